"""A user's message in the chat template of a model file. In: a template and a message. Out: text.

The template runs in the sandbox of Jinja. It must never tokenise.
"""

from collections.abc import Mapping

from draftproof.errors import UsageError

__all__ = ["rendered"]


def rendered(template: str, message: str, signs: Mapping[str, str]) -> str:
    """Return the text with which a message asks for an answer.

    Args:
        template: of the file, in Jinja.
        message: of the user.
        signs: `bos_token` and `eos_token`.

    Raises:
        UsageError: if the template is damaged or refuses the message.
    """
    from llama_cpp.llama_chat_format import Jinja2ChatFormatter

    try:
        made = Jinja2ChatFormatter(template, signs["eos_token"], signs["bos_token"])
        return made(messages=[{"role": "user", "content": message}]).prompt
    except Exception as error:  # noqa: BLE001 (a template raises what it likes)
        raise UsageError(f"got {message!r}, but the chat template of this model fails: {error}", "chat") from None
