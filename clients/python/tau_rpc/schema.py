"""Derives JSON Schema from the annotations of a function."""

from __future__ import annotations

import collections.abc
import inspect
import types
from collections.abc import Callable
from typing import (
    Annotated,
    Any,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

_SIMPLE: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    None: {"type": "null"},
    type(None): {"type": "null"},
    Any: {},
    object: {},
    list: {"type": "array"},
    dict: {"type": "object"},
}
_LISTS = (list, collections.abc.Sequence, collections.abc.Iterable)
_OBJECTS = (dict, collections.abc.Mapping, collections.abc.MutableMapping)
_KNOWN = (
    "str, int, float, bool, None, Any, Literal, list, dict with text as keys, "
    "TypedDict, unions of these, and Annotated with a text"
)


def schema_of_arguments(
    function: Callable[..., Any], context_type: type
) -> tuple[dict[str, Any], str | None]:
    """The schema of a function's arguments, and the name of the parameter for the context.

    Raises TypeError with the name of a parameter that has no schema.
    """
    hints = get_type_hints(function, include_extras=True)
    properties: dict[str, Any] = {}
    required: list[str] = []
    context: str | None = None
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{_name(function)}: {name} cannot be given by name")
        if hints.get(name) is context_type:
            context = name
            continue
        if name not in hints:
            raise TypeError(f"{_name(function)}: {name} has no annotation")
        schema = schema_of(hints[name], f"{_name(function)}: {name}")
        if parameter.default is inspect.Parameter.empty:
            required.append(name)
        elif isinstance(parameter.default, (str, int, float, bool)):
            schema = {**schema, "default": parameter.default}
        properties[name] = schema
    return {"type": "object", "properties": properties, "required": required}, context


def schema_of(hint: Any, where: str) -> dict[str, Any]:
    """The schema of a type; `where` is its place for an error."""
    if hint.__hash__ is not None and hint in _SIMPLE:
        return dict(_SIMPLE[hint])
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        texts = [text for text in args[1:] if isinstance(text, str)]
        schema = schema_of(args[0], where)
        return {**schema, "description": texts[0]} if texts else schema
    if origin is Literal:
        return _enum(list(args))
    if origin in (Union, types.UnionType):
        return {"anyOf": [schema_of(option, where) for option in args]}
    if origin in _LISTS and len(args) == 1:
        return {"type": "array", "items": schema_of(args[0], where)}
    if origin in _OBJECTS and args and args[0] is str:
        return {"type": "object", "additionalProperties": schema_of(args[1], where)}
    if is_typeddict(hint):
        return _object(hint, where)
    raise TypeError(f"{where} is of a type that has no schema: {hint!r}. These have one: {_KNOWN}.")


def _enum(values: list[Any]) -> dict[str, Any]:
    kinds: list[Any] = [type(value) for value in values]
    schema: dict[str, Any] = {"enum": values}
    return {**_SIMPLE[kinds[0]], **schema} if len({*kinds}) == 1 else schema


def _object(hint: Any, where: str) -> dict[str, Any]:
    hints = get_type_hints(hint, include_extras=True)
    properties = {name: schema_of(_bare(it), f"{where}.{name}") for name, it in hints.items()}
    required = [name for name in hints if name in hint.__required_keys__]
    return {"type": "object", "properties": properties, "required": required}


def _bare(hint: Any) -> Any:
    """Removes `Required` and `NotRequired`, whichever module they come from."""
    origin = get_origin(hint)
    is_mark = getattr(origin, "_name", None) in ("Required", "NotRequired")
    return get_args(hint)[0] if is_mark else hint


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", repr(function))
