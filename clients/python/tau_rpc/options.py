"""Converts a client's options to arguments of the host's command line."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

Policy = Mapping[str, Any]


def host_words(
    provider: str | None,
    model: str | None,
    fallback_models: Sequence[str],
    session: str | os.PathLike[str] | None,
    tools: Sequence[str] | None,
    extensions: Sequence[str | os.PathLike[str]],
    permissions: str | None,
    policies: Sequence[Policy] = (),
    durability: str | None = None,
    durability_adopt_ms: int | None = None,
    resume: str | None = None,
    max_turns: int | None = None,
) -> list[str]:
    """The arguments for the given options."""
    named = {
        "--provider": provider,
        "--model": model,
        "--permission-mode": permissions,
        "--durability": durability,
        "--durability-adopt-ms": durability_adopt_ms,
        "--max-turns": max_turns,
    }
    words = [word for name, value in named.items() if value is not None for word in (name, str(value))]
    if resume is not None:
        words.append("--resume-interrupted")
    for name in fallback_models:
        words += ["--fallback-model", name]
    if session == "memory":
        words.append("--no-session")
    elif session == "continue":
        words.append("--continue")
    elif session is not None:
        words += ["--session", os.fspath(session)]
    if tools is not None:
        words += ["--tools", ",".join(tools)] if tools else ["--no-tools"]
    for path in extensions:
        words += ["--extension", os.fspath(path)]
    for policy in policies:
        words += ["--policy", json.dumps(policy)]
    return words


def policies_of(policy: Policy | Sequence[Policy] | None) -> list[Policy]:
    """The policies as a list."""
    if policy is None:
        return []
    return [policy] if isinstance(policy, Mapping) else list(policy)
