"""check_layers.py finds what it is there to find, and nothing else."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_layers.py"

GOOD_TREE = {
    "include/weir/types.h": "#include <cstdint>\n",
    "include/weir/errors.h": '#include <string>\n#include "weir/types.h"\n',
    "src/base/check.h": '#include <sys_errlist.h>\n#include "weir/types.h"\n',
    "src/core/manager.cpp": '#include "core/manager.h"\n#include "base/check.h"\n',
    "src/trace/reader.cpp": '#include <fmt/format.h>\n#include "base/rng.h"\n',
    "app/main.cpp": '#include <CLI/CLI.hpp>\n#include "policy/registry.h"\n',
}


class CheckLayers(unittest.TestCase):
    def check(self, extra):
        """Runs the script on the good tree with `extra` files; gives exit code and output."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**GOOD_TREE, **extra}.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            run = subprocess.run(
                [sys.executable, SCRIPT, folder], capture_output=True, text=True, check=False
            )
            return run.returncode, run.stdout

    def assert_caught(self, name, include, where_and_what):
        code, output = self.check({name: f"#pragma once\n#include {include}\n"})
        self.assertEqual(code, 1, output)
        self.assertIn(f"{name}:2: {where_and_what}", output)

    def test_accepts_a_good_tree(self):
        code, output = self.check({})
        self.assertEqual((code, output), (0, "layers are kept\n"))

    def test_catches_a_leaf_that_sees_the_core(self):
        self.assert_caught("src/policy/lru.cpp", '"core/manager.h"', "policy may not include core")

    def test_catches_a_core_that_sees_a_leaf(self):
        self.assert_caught("src/core/x.h", '"policy/lru.h"', "core may not include policy")

    def test_catches_angle_brackets_too(self):
        self.assert_caught("src/core/x.h", "<policy/lru.h>", "core may not include policy")

    def test_catches_torch_outside_libtorch(self):
        self.assert_caught("src/sim/x.cpp", "<ATen/ATen.h>", "only src/libtorch may include")

    def test_catches_an_app_that_sees_libtorch(self):
        self.assert_caught("app/run.cpp", '"libtorch/blocks.h"', "app may not include libtorch")

    def test_catches_a_contract_that_sees_src_or_a_library(self):
        self.assert_caught("include/weir/x.h", '"base/check.h"', "the contract may include only")
        self.assert_caught("include/weir/x.h", "<fmt/format.h>", "the contract may include only")

    def test_catches_a_base_that_sees_a_library(self):
        self.assert_caught("src/base/x.cpp", "<fmt/format.h>", "base may include only std")

    def test_catches_a_relative_way_around(self):
        self.assert_caught("src/core/x.h", '"../policy/lru.h"', "write the include from its root")

    def test_catches_a_folder_that_is_no_layer(self):
        self.assert_caught("src/misc/x.h", "<vector>", "misc is not a layer")

    def test_names_long_files_without_failing(self):
        code, output = self.check({"src/core/x.cpp": "//\n" * 401, "src/core/y.cpp": "//\n" * 400})
        self.assertEqual(code, 0)
        self.assertIn("src/core/x.cpp: 401 lines", output)
        self.assertNotIn("y.cpp", output)

    def test_holds_contract_headers_to_their_own_limit(self):
        code, output = self.check({"include/weir/x.h": "//\n" * 151})
        self.assertEqual(code, 0)
        self.assertIn("include/weir/x.h: 151 lines", output)


if __name__ == "__main__":
    unittest.main()
