"""An advised set against the defaults, on a scenario made for it."""

from .comparison import Comparison, Figure, check_writable, compare, is_worse, scenario_text, write_scenario

__all__ = ["Comparison", "Figure", "check_writable", "compare", "is_worse", "scenario_text", "write_scenario"]
