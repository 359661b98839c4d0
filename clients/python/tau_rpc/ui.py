"""UI requests of extensions to the client."""

from __future__ import annotations

import inspect
from typing import Any

from .protocol import (
    ExtensionUiRequest,
    ExtensionUiRequestConfirm,
    ExtensionUiRequestEditor,
    ExtensionUiRequestInput,
    ExtensionUiRequestNotify,
    ExtensionUiRequestSelect,
    ExtensionUiRequestSetEditorText,
    ExtensionUiRequestSetStatus,
    ExtensionUiRequestSetTitle,
    ExtensionUiRequestSetWidget,
)


class UiHandler:
    """Override what your application can show.

    Without an override, a dialog is cancelled at once and a notification is ignored, so no
    extension ever waits for a client that shows nothing. Returning None also cancels a dialog.
    While a dialog is open, other commands and events continue.
    """

    async def select(self, request: ExtensionUiRequestSelect) -> str | None:
        """One of `request["options"]`."""
        return None

    async def confirm(self, request: ExtensionUiRequestConfirm) -> bool | None:
        """A yes-or-no question."""
        return None

    async def input(self, request: ExtensionUiRequestInput) -> str | None:
        """A line of text."""
        return None

    async def editor(self, request: ExtensionUiRequestEditor) -> str | None:
        """A longer text, initially `request.get("prefill")`."""
        return None

    async def notify(self, request: ExtensionUiRequestNotify) -> None:
        """A notification."""

    async def set_status(self, request: ExtensionUiRequestSetStatus) -> None:
        """A status line; removed by a request without text."""

    async def set_widget(self, request: ExtensionUiRequestSetWidget) -> None:
        """Lines to show next to the editor; removed by a request without lines."""

    async def set_title(self, request: ExtensionUiRequestSetTitle) -> None:
        """A title for the window."""

    async def set_editor_text(self, request: ExtensionUiRequestSetEditorText) -> None:
        """A text to put into the user's editor."""


_DIALOGS = {"select": "value", "input": "value", "editor": "value", "confirm": "confirmed"}
_NOTICES = {"notify", "setStatus", "setWidget", "setTitle", "set_editor_text"}


def is_dialog(request: ExtensionUiRequest) -> bool:
    """Whether a request waits for an answer; a request of an unknown kind might."""
    return request["method"] not in _NOTICES


async def show(handler: UiHandler, request: ExtensionUiRequest) -> dict[str, Any]:
    """Shows a request; returns the members of its answer."""
    method: str = request["method"]
    member = _DIALOGS.get(method)
    if member is None and method not in _NOTICES:
        return {"cancelled": True}
    name = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in method)
    answer = getattr(handler, name)(request)
    if inspect.isawaitable(answer):
        answer = await answer
    if member is None or answer is None:
        return {"cancelled": True}
    return {member: bool(answer) if member == "confirmed" else str(answer)}
