"""Tau as an agent of Harbor."""

from tau_harbor.agent import Tau

__all__ = ["Tau"]
