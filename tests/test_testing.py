"""godlpack.testing: its findings about the frameworks, and that it finds every defect of helpers/defects.py."""

import ctypes
import doctest
import importlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from helpers import build

if not build.HAS_CC:
    pytest.skip("needs a C compiler for the reference", allow_module_level=True)


import godlpack as gd
import godlpack.testing.claims
import godlpack.testing.consumer as consumer
import godlpack.testing.producer as producer
import godlpack.testing.records as records
import godlpack.testing.report
from godlpack.testing import (
    ConformanceError,
    Finding,
    Outcome,
    Report,
    check_consumer,
    check_producer,
    check_table,
    isolation,
)
from godlpack.testing.frameworks import FRAMEWORKS
from godlpack.testing.report import told
from helpers.cupy_rules import CupyArray, CupyConsumer
from helpers.defects import COUNT, CRASHES, DEFECTS, LISTS
from helpers.reference import Array
from helpers.rules import PAGE, RULES, rows

HERE = Path(__file__).parent

# The known errors of releases of each framework. The seeded defects prove that checks find such errors.
UNCHECKED = {"R41 no_memory", "R42 missing_shape"}  # crashes, or reads of invalid memory
KNOWN = {
    "producer numpy.ndarray": {"R15 no_data"},
    "consumer numpy.from_dlpack": {"R34 major_zero", "R47 copy", *UNCHECKED},
    "producer torch.Tensor": {"R7 malformed_version", "R24 copy_is_marked"},
    "producer torch.Tensor, a lazy negative": {"R7 malformed_version", "R24 copy_is_marked", "R65 values"},
    "consumer torch.from_dlpack": {
        "R31 no_producer",
        "R34 major_zero",
        "R42 negative_ndim",
        "R43 read_only",
        "R47 copy",
        *UNCHECKED,
    },
    "table of torch.Tensor": {
        "R41 no_memory",
        "R57 allocation_out",
        "R61 next_major",
        "R61 next_major_unread",
        "R61 read_only",
    },
    "producer jax.Array": {
        "R5 versioned",  # up to 0.11
        "R6 version_to_come",
        "R7 malformed_version",
        "R9 unconsumed",
        "R15 no_data",
        "R23 read_only",
    },
    "consumer jax.dlpack.from_dlpack": {
        "R33 max_version",  # up to 0.11
        "R34 major_zero",  # from 0.12 on
        "R36 no_deleter",
        "R47 copy",
        *UNCHECKED,
    },
    "producer tvm_ffi.Tensor": {
        "R4 legacy",
        "R7 malformed_version",
        "R25 copy",
        "R27 stream_of_the_cpu",
        "R29 stream_of_dl_device",
    },
    "consumer tvm_ffi.from_dlpack": {
        "R33 max_version",
        "R35 unknown_dtype",
        "R35 unknown_bits",
        "R42 negative_ndim",
        "R42 negative_extent",
        "R42 overflow",
        "R46 no_lanes",
        "R48 unknown_device",
        "R61 bad_tensor_by_table",
        "R61 read_only_by_table",
        "R62 table_of_instance",
        "R64 next_table",
        "R64 no_table",
        "R67 failing_table",
        "R67 odd_table",
        *UNCHECKED,
    },
    "producer pyarrow.Array": {"R7 malformed_version", "R19 refused", "R23 read_only"},
    "producer cuda.core.StridedMemoryView": {
        "R7 malformed_version",
        "R12 after_the_end",
        "R25 copy",
        "R26 own_device",
        "R27 stream_of_the_cpu",
    },
    "consumer cuda.core.StridedMemoryView.from_dlpack": {
        "R34 next_major",
        "R34 next_major_unread",
        "R34 major_zero",
        "R35 unknown_dtype",
        "R35 unknown_bits",
        "R42 negative_ndim",
        "R42 negative_extent",
        "R42 overflow",
        "R46 no_lanes",
        *UNCHECKED,
    },
    "table of cuda.core.StridedMemoryView": {
        "R41 no_memory",
        "R43 read_only_borrow",
        "R56 refuses",
        "R57 allocator",
        "R57 allocated",
        "R57 allocation_error",
        "R57 allocation_out",
        "R57 allocation_exception",
        "R57 allocation_overflow",
        "R61 next_major",
        "R61 next_major_unread",
    },
    "producer paddle.Tensor": {"R7 malformed_version", "R26 own_device", "R26 unknown_device", "R30 device"},
    "consumer paddle.from_dlpack": {
        "R31 no_producer",
        "R34 major_zero",
        "R36 no_context",
        "R39 byte_offset",
        "R42 negative_ndim",
        "R42 negative_extent",
        "R42 negative_strides",
        "R42 overflow",
        "R42 misaligned",
        "R43 read_only",
        "R46 no_lanes",
        "R47 copy",
        *UNCHECKED,
    },
    "table of paddle.Tensor": {
        "R39 byte_offset",
        "R41 no_memory",
        "R57 allocation_out",
        "R57 allocation_overflow",
        "R58 stream",
        "R61 next_major",
        "R61 next_major_unread",
        "R61 read_only",
    },
    "producer godlpack.Tensor": set(),
    "consumer godlpack.from_dlpack": {"R41 dangling"},  # Go pointers cannot have values below 4096
    "table of godlpack.Tensor": set(),
}


REPORTS = """
import json, sys
from godlpack.testing.frameworks import FRAMEWORKS
print(json.dumps([(report.subject, str(report), [f.name for f in report.failed]) for report in FRAMEWORKS[sys.argv[1]]()]))
"""


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_frameworks(name):
    """Each runs in its own process, without modules of the others."""
    pytest.importorskip(name.replace("cuda_core", "cuda.core"))
    line = [sys.executable, "-P", "-c", REPORTS, name]
    done = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=True)
    reports = json.loads(done.stdout.splitlines()[-1])
    assert reports
    for subject, text, failed in reports:
        assert set(failed) <= KNOWN[subject], text


def test_cupy():
    """By its rules, since it cannot be run without a GPU: it checks only a part of what it takes."""
    arrays = [lambda: CupyArray((2, 3)), lambda: CupyArray(()), lambda: CupyArray((3,), strides=(2,))]
    report = check_producer(*arrays, name="producer cupy.ndarray", isolated=True)
    after_the_end = {"R12 after_the_end"} & {f.name for f in report.failed}  # that may or may not crash
    report.raise_if_failed(known={"R7 malformed_version"} | after_the_end)
    known = {"R34 major_zero", "R42 negative_ndim", "R42 negative_extent", "R42 overflow", "R43 read_only", "R47 copy"}
    check_consumer(CupyConsumer(), name="consumer cupy.from_dlpack").raise_if_failed(known=known | {"R41 no_memory"})


def test_fake_tensors(torch):
    """R41: reported, without a crash."""
    fake = pytest.importorskip("torch._subclasses.fake_tensor")
    with fake.FakeTensorMode():
        report = check_producer(torch.ones(3))
    assert "R41 data" in {f.name for f in report.failed}


# ---- the reference, with and without defects ----

ROWS = [(kind, defect) for kind, defects in DEFECTS.items() for defect in defects]


@pytest.fixture(scope="module")
def all_found():
    """The output of helpers/defects.py."""
    line = [
        sys.executable,
        "-P",
        "-c",
        "import sys; sys.path.insert(0, sys.argv[1]); from helpers import defects; defects.main()",
    ]
    done = subprocess.run([*line, str(HERE)], stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("kind", DEFECTS)
def test_reference(all_found, kind):
    assert all_found["right"][kind] == []


@pytest.mark.parametrize(("kind", "defect"), ROWS, ids=[f"{kind}: {defect.name}" for kind, defect in ROWS])
def test_defect(all_found, kind, defect):
    """The check for the defect fails, also if the defect ends the process; its text has the result and the remedy."""
    ((name, text),) = all_found["found"][kind][defect.name]
    assert name == defect.found_by
    assert "; got " in text and "to do:" in text, text


@pytest.mark.parametrize(("kind", "name"), CRASHES)
def test_whole_report_of_what_crashes(all_found, kind, name):
    (defect,) = (defect for defect in DEFECTS[kind] if defect.name == name)
    assert defect.found_by in all_found["crashing"][f"{kind}: {name}"]


def test_every_check_finds_a_defect():
    found = {(kind.split()[0], defect.found_by) for kind, defect in ROWS}
    there = {(module.__name__.rpartition(".")[2], c.name) for module, name in LISTS for c in getattr(module, name)}
    assert found == there


def test_names_are_unique():
    for kind, defects in DEFECTS.items():
        assert len({defect.name for defect in defects}) == len(defects), kind


# ---- docs/conformance.md ----

CHECKS = [check for module, name in LISTS for check in getattr(module, name)]


def test_count_of_defects():
    assert COUNT >= 90
    assert f"{COUNT} defects" in PAGE.read_text()


def test_table_of_rules_says_who_is_asked():
    """The last column names those that a check of the rule applies to."""
    there = {rule: set() for rule in RULES}
    for module, name in LISTS:
        for c in getattr(module, name):
            there[int(c.rule[1:])].add(module.__name__.rpartition(".")[2])
    said = {rule: set(re.findall(r"producer|consumer|table", asked)) for rule, (*_, asked) in rows().items()}
    assert said == there


def test_checks_say_what_to_do():
    for c in CHECKS:
        assert c.wanted and c.remedy and not c.remedy.endswith("."), c.name


# ---- isolation ----


def test_tasks_that_end_the_process():
    def dies():
        os.write(2, b"\nlast words\n")
        os.kill(os.getpid(), signal.SIGSEGV)

    def exits():
        os._exit(3)

    def children():
        return sorted(pid for file in Path("/proc/self/task").glob("*/children") for pid in file.read_text().split())

    before = children()
    tasks = [lambda: 1, dies, lambda: "two", exits, lambda: time.sleep(60), lambda: 3]
    one, dead, two, gone, hung, three = isolation.results(tasks, patience=1)
    assert (one, two, three) == (1, "two", 3)
    assert dead.how == "the end of the process by SIGSEGV: last words" and not dead.hung
    assert gone.how == "the end of the process by exit status 3"
    assert hung.how == "no end within 1 s" and hung.hung
    assert children() == before  # no child is left


def test_here_nothing_dangerous_is_tried():
    report = check_consumer(gd.from_dlpack, isolated=False)
    untried = {f.name for f in report.not_applicable if "forked child" in f.got}
    assert untried == {c.name for c in consumer.checks if c.dangerous}


def test_subject_that_hangs_in_a_child(monkeypatch):
    """It is checked in this process."""
    monkeypatch.setattr(godlpack.testing.report, "REHEARSAL", 0.5)
    here = os.getpid()

    class Threaded(CupyArray):
        def __dlpack__(self, **keywords):
            if os.getpid() != here:
                time.sleep(60)
            return super().__dlpack__(**keywords)

    report = check_producer(lambda: Threaded(device=(1, 0)))
    assert "R9 unconsumed" in {f.name for f in report.passed}


def test_samples_that_are_missing():
    with pytest.raises(TypeError, match="want samples to check, got none"):
        check_producer()


def test_type_without_a_table():
    report = check_table(int)
    assert report.ok and not report.passed


# ---- objects that report nothing outside DLPack ----


class Bare:
    """A producer with only the two methods."""

    def __init__(self):
        self.t = gd.full(3, 1.5)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return self.t.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self):
        return self.t.__dlpack_device__()


def test_object_without_attributes():
    check_producer(Bare).raise_if_failed()


def test_read_only_by_the_words_of_a_refusal():
    """The object shows that it is read-only only in its error for a legacy capsule."""

    class Dropping(Array):
        __array_interface__ = None

        def flags(self, copied):
            return 2 * copied

    report = check_producer(lambda: Dropping(read_only=True))
    assert [finding.name for finding in report.failed] == ["R23 read_only"]
    assert "though a legacy capsule is refused: read-only memory" in report.failed[0].got


# ---- reports ----


def test_known_failures_are_strict():
    passed = Finding("R1", "a", Outcome.PASSED, "good")
    failed = Finding("R2", "b", Outcome.FAILED, "good", "bad", "mend it")
    report = Report("x", (passed, failed))
    assert not report.ok and report.failed == (failed,)
    report.raise_if_failed(known=["R2 b"])
    with pytest.raises(ConformanceError, match=r"R2 b .*FAILED +good; got bad\n +to do: +mend it"):
        report.raise_if_failed()
    with pytest.raises(ConformanceError, match=r"R1 a +is known to fail, but did not"):
        report.raise_if_failed(known=["R1 a", "R2 b"])


def test_text():
    text = str(check_producer(gd.zeros(3)))
    assert text.startswith("producer Tensor: ")
    assert len(text.splitlines()) == len(producer.checks) + len(producer.refusals) + 1  # the headline
    assert told(ValueError()) == "ValueError"
    error = SystemError("odd")
    error.__cause__ = TypeError("why")
    assert told(error) == "SystemError: odd, from TypeError: why"


def test_sample_is_named():
    broken = check_producer(lambda: gd.zeros(3), lambda: ctypes.c_int(0))
    assert broken.failed
    assert all("(sample 2 of 2)" in finding.got for finding in broken.failed)


def test_old_producer():
    """A producer from before 2023: one check fails for max_version, and those that pass it do not apply."""

    class Old(Bare):
        def __dlpack__(self, *, stream=None):
            return self.t.__dlpack__(stream=stream)

    report = check_producer(Old)
    report.raise_if_failed(known=["R5 versioned"])
    assert {"R25 copy", "R6 version_to_come"} <= {f.name for f in report.not_applicable if "see R5 versioned" in f.got}


@pytest.mark.parametrize(
    ("check", "thing", "said"),
    [
        (check_producer, 7, "want an object with __dlpack__, or a function that makes one, got int"),
        (check_producer, list, "want an object with __dlpack__, or a function that makes one, got list"),
        (check_consumer, 7, "want a function like from_dlpack, got int"),
        (check_table, gd.zeros(3), "want a type, whose table is to be checked, got Tensor"),
        (check_consumer, lambda: 0, "want a function like from_dlpack, which takes an object: too many positional"),
    ],
)
def test_subjects_that_are_none(check, thing, said):
    with pytest.raises(TypeError, match=said):
        check(thing)


def test_examples():
    modules = (records, godlpack.testing.report, godlpack.testing.claims)
    assert all(doctest.testmod(module).failed == 0 for module in modules)


# ---- the command ----


def command(*arguments, **more):
    line = [sys.executable, "-m", "godlpack.testing", *arguments]
    return subprocess.run(line, capture_output=True, text=True, **more)


def test_command():
    pytest.importorskip("numpy")
    done = command("numpy", "godlpack")
    assert done.returncode == 0
    assert "producer numpy.ndarray" in done.stdout and "table of godlpack.Tensor" in done.stdout
    assert done.stderr == ""
    refused = command("nothing")
    assert refused.returncode == 2 and "unknown framework 'nothing'" in refused.stderr


MINE = """
import godlpack as gd

class Box:
    def __init__(self):
        self.t = gd.zeros((2, 3))
    def __dlpack__(self, stream=None):
        return self.t.__dlpack__(stream=stream)
    def __dlpack_device__(self):
        return self.t.__dlpack_device__()

def make():
    return Box()

def take(x):
    return gd.from_dlpack(x)

frozen = gd.asarray(b"abc")
"""


def test_command_for_a_library_of_ones_own(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    done = command("--producer", "mine:make", "--consumer", "mine:take", "--failed", cwd=tmp_path)
    assert done.returncode == 1
    assert "producer mine:make: " in done.stdout and "R1 keyword_only" in done.stdout
    assert "to do:  declare it as __dlpack__(self, *, stream=None, max_version=None" in done.stdout
    done = command("--read-only", "mine:frozen", "--table", "godlpack:Tensor", cwd=tmp_path)
    assert "producer mine:frozen" in done.stdout and "table of godlpack:Tensor" in done.stdout


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("mine", "want MODULE:NAME, such as mylib:make_array, got 'mine'"),
        ("nowhere:x", "cannot import nowhere: No module named 'nowhere'"),
        ("mine:nothing", "mine has no nothing"),
        ("mine:gd", "mine:gd: want an object with __dlpack__, or a function that makes one, got module"),
    ],
)
def test_command_for_what_is_not_there(tmp_path, wrong, said):
    (tmp_path / "mine.py").write_text(MINE)
    done = command("--producer", wrong, cwd=tmp_path)
    assert done.returncode == 2 and said in done.stderr, done.stderr


def test_frameworks_are_importable_by_the_command():
    module = importlib.import_module("godlpack.testing.__main__")
    assert set(FRAMEWORKS) <= set(re.findall(r"\w+", module.parser().format_help()))


def test_record_that_is_overwritten():
    """The deleter counts its calls in the record: a value written by a consumer is not reported as a count."""
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]

    class Handed:
        def __init__(self, capsule):
            self.capsule = capsule

        def __dlpack__(self, **asked):
            return self.capsule

        def __dlpack_device__(self):
            return 1, 0

    def take(x):
        capsule = x.__dlpack__(max_version=(1, 3))
        if "versioned" not in repr(capsule):
            return gd.from_dlpack(Handed(capsule))
        version = ctypes.c_uint64.from_address(pointer(capsule, b"dltensor_versioned"))
        t = gd.from_dlpack(Handed(capsule))
        version.value = 1 | 7 << 32
        return t

    text = str(check_consumer(take))
    assert "got the record was overwritten: its version" in text
    assert not re.search(r"got -?\d{5,} calls of the deleter", text)
