from dataclasses import dataclass, field


@dataclass(frozen=True)
class ModelConnectionSpec:
    default_provider: str | None = None
    passthrough: bool = False


@dataclass(frozen=True)
class ResolvedModelConnection:
    provider: str | None = None
    env: dict = field(default_factory=dict)
