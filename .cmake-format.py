# cmake-format: the layout of the CMake files.
with section("parse"):  # noqa: F821 (cmake-format provides it)
    _lists = {"kwargs": {"SOURCES": "*", "DEPENDS": "*"}, "pargs": 1}
    additional_commands = {
        name: _lists
        for name in ("weir_library", "weir_program", "weir_test", "weir_fuzz", "weir_bench")
    }

with section("format"):  # noqa: F821
    line_width = 100
    tab_size = 2
    max_subgroups_hwrap = 3
    max_pargs_hwrap = 12
    autosort = False

with section("lint"):  # noqa: F821
    disabled_codes = ["C0103", "C0111", "C0301"]
