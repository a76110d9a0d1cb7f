"""Open a results repository (a git clone, full, bare or partial, or a plain folder) as a list of files."""

import bisect
import contextlib
import hashlib
import itertools
import os
import re
import subprocess
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple
from urllib.parse import quote, urlsplit

_SYMLINK = "120000"
_LINKS_ON_A_PATH = 40  # that Linux follows
_COMMIT = re.compile(r"[0-9a-f]{40}")
_REDIRECTING = (  # git rev-parse --local-env-vars, but for configuration
    *(
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    ),
    *("GIT_COMMON_DIR", "GIT_NAMESPACE", "GIT_PREFIX", "GIT_SHALLOW_FILE", "GIT_GRAFT_FILE"),
)
PIPE_BYTES = 1 << 20  # lets git unpack while we parse; the most Linux gives an ordinary user
CACHE = "core.deltaBaseCacheLimit=16m"  # for what git unpacks on the way; in the order of sort_files no more is used


class SourceError(ValueError):
    """A folder that cannot be read as a source."""


class File(NamedTuple):
    """One file of a source: its path inside it, and the id git gives its content."""

    path: str
    blob: str  # empty where a link leads to no file of the source, and for what git cannot hold
    stored_at: str = ""  # the path of the content, where a link leads to it

    @property
    def content_path(self) -> str:
        return self.stored_at or self.path


@dataclass(frozen=True)
class Source:
    """A results repository or folder, as found on disk; nothing is checked out."""

    root: Path
    commit: str = ""  # empty for a plain folder
    url: str = ""  # of the public repository; empty where none is known
    files: tuple[File, ...] = ()  # sorted by path; links within the source are followed, to folders too
    absent: frozenset[str] = frozenset()  # blob ids that the tree names and the clone does not hold, and the empty one
    unread_links: tuple[str, ...] = ()  # blob ids of links that the clone does not hold

    @property
    def name(self) -> str:
        """Return the name as given, which a link may give, without `.git`."""
        return Path(os.path.normpath(self.root.absolute())).name.removesuffix(".git")


def open_source(root: Path, *, commit: str = "HEAD") -> Source:
    """List the files of a source without reading them.

    Args:
        root: a git clone (its work tree or its bare folder), or a folder of files.
        commit: what to list, for a git clone.
    Raises: SourceError if there is no such folder, or git cannot list that commit.
    """
    if not root.is_dir():
        raise SourceError(f"{root}: no such folder, expected a results repository or a folder of logs")
    return _open_git(root, commit) if is_git(root) else _open_folder(root)


def is_git(root: Path) -> bool:
    """Tell whether a folder is itself a git clone, and not merely inside one."""
    return (root / ".git").exists() or ((root / "HEAD").is_file() and (root / "objects").is_dir())


def read_files(source: Source, files: Sequence[File]) -> Iterator[tuple[File, bytes]]:
    """Yield each file with its bytes, in the order given, one in memory at a time.

    Raises: SourceError if a file is not there: ask `source.absent` first.
    """
    return _read_git(source, files) if source.commit else _read_folder(source, files)


def sort_files(source: Source, files: Iterable[File]) -> list[File]:
    """Sort files so that git reads them fastest: each right after the one it is stored as a change of."""
    bases = _list_bases(source.root) if source.commit else {}
    return sorted(files, key=lambda file: _list_chain(file.blob, bases))


def clone(url: str, target: Path, *, commit: str) -> None:
    """Clone the trees of one commit, without file contents, into a bare repository.

    Raises: SourceError with git's own words if the remote or the commit cannot be had.
    """
    if not _COMMIT.fullmatch(commit):
        raise SourceError(f"commit is {commit!r}, expected 40 hexadecimal digits")
    if is_git(target):
        origin = _run_git(target, "config", "remote.origin.url").strip()
        if origin != url:
            raise SourceError(f"{target} is a clone of {origin}, expected {url}: remove it")
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        _run_git(None, "clone", "--quiet", "--bare", "--filter=blob:none", "--depth=1", "--", url, str(target))
    if commit not in _list_held(target):
        _run_git(target, "fetch", "--quiet", "--filter=blob:none", "--depth=1", "origin", commit)


def fetch_absent(source: Source, files: Sequence[File]) -> Source:
    """Fetch the blobs of these files, and of links, that a partial clone lacks, all in one request.

    Returns: the source with what is still absent.
    Raises: SourceError with git's own words if the remote does not hand them out.
    """
    blobs = sorted({*source.unread_links, *({file.blob for file in files} & source.absent - {""})})
    if not blobs:
        return source
    _run_git(
        source.root,
        *("-c", "fetch.negotiationAlgorithm=noop", "fetch", "origin", "--quiet", "--no-tags"),
        *("--no-write-fetch-head", "--recurse-submodules=no", "--filter=blob:none", "--stdin"),
        given="\n".join(blobs) + "\n",
    )
    return open_source(source.root, commit=source.commit)


def link(url: str, commit: str, path: str, first_line: int = 0, last_line: int = 0) -> str:
    """Return the web address of a file, or of lines in it, at a pinned commit; empty without a url."""
    if not (url and commit):
        return ""
    lines = f"#L{first_line}" + (f"-L{last_line}" if last_line else "") if first_line else ""
    return f"{url}/blob/{commit}/{quote(path.encode('utf-8', 'surrogateescape'))}{lines}"


def _open_git(root: Path, commit: str) -> Source:
    try:
        commit = _run_git(root, "rev-parse", "--verify", "--end-of-options", f"{commit}^{{commit}}").strip()
    except SourceError as error:
        raise SourceError(f"{root}: no commit {commit}, expected one that the clone holds") from error
    listing = _run_git(root, "ls-tree", "-r", "-z", "--full-tree", commit).split("\0")[:-1]
    entries = [(*head.split(), path) for head, path in (line.split("\t", 1) for line in listing)]
    held = _list_held(root)
    blobs = {path: blob for mode, kind, blob, path in entries if kind == "blob" and mode != _SYMLINK}
    symlinks = {path: blob for mode, _, blob, path in entries if mode == _SYMLINK}
    readable = [File(path, blob) for path, blob in symlinks.items() if blob in held]
    texts = _read_git(Source(root, commit), readable) if readable else ()
    links = {file.path: text.decode("utf-8", "surrogateescape") for file, text in texts}
    unread = {path: "" for _, _, _, path in entries if path not in blobs and path not in links}  # submodules, too
    files = (*itertools.starmap(File, blobs.items()), *_follow(links | unread, blobs))
    absent = frozenset(file.blob for file in files if file.blob not in held)
    unread_links = tuple(sorted({blob for path, blob in symlinks.items() if path in unread}))
    return Source(root, commit, _read_url(root), tuple(sorted(files)), absent, unread_links)


def _follow(links: Mapping[str, str], blobs: Mapping[str, str]) -> Iterator[File]:
    """List what links lead to, under their own paths; one that leads to nothing in the source has no blob."""
    paths = sorted([*blobs, *links])
    for path in links:
        end = _resolve(path, links)
        inside = paths[bisect.bisect_left(paths, f"{end}/") : bisect.bisect_left(paths, f"{end}0")]  # 0 comes after /
        if end in blobs:
            yield File(path, blobs[end], end)
        elif end and inside:
            for name in inside:
                stored_at = _resolve(name, links)
                yield File(path + name.removeprefix(end), blobs.get(stored_at, ""), stored_at)
        else:
            yield File(path, "")


def _resolve(path: str, links: Mapping[str, str]) -> str:
    """Follow every link on a path, as a file system does; empty if it leaves the source or never ends."""
    passed, rest, followed = [], path.split("/"), 0
    while rest:
        match rest.pop(0):
            case "" | ".":
                continue
            case "..":
                if not passed:
                    return ""
                passed.pop()
            case name:
                passed.append(name)
        if (target := links.get("/".join(passed))) is not None:
            followed += 1
            if not target or target.startswith("/") or followed > _LINKS_ON_A_PATH:
                return ""
            passed.pop()
            rest = [*target.split("/"), *rest]
    return "/".join(passed)


def _list_held(root: Path) -> set[str]:
    """List the objects a clone holds; asking a partial clone for one it lacks would make it fetch."""
    return set(_list_bases(root))


def _list_bases(root: Path) -> dict[str, str]:
    """List the objects a clone holds, each with the one it is stored as a change of, or else zeros."""
    form = "--batch-check=%(objectname) %(deltabase)"
    listing = _run_git(root, "cat-file", "--batch-all-objects", "--unordered", form)
    return dict(line.split() for line in listing.splitlines())


def _list_chain(blob: str, bases: Mapping[str, str]) -> list[str]:
    """List what git unpacks one after the other to have a blob."""
    chain = [blob]
    while (base := bases.get(chain[-1])) in bases:
        chain.append(base)
    return chain[::-1]


def _read_url(root: Path) -> str:
    done = subprocess.run(
        _git(root, "config", "remote.origin.url"),
        capture_output=True,
        text=True,
        env=_environment(),
        check=False,
    )
    parts = urlsplit(done.stdout.strip())
    if parts.scheme != "https":
        return ""
    host = parts.netloc.rpartition("@")[2]  # a clone's address may carry a password
    return f"https://{host}{parts.path.removesuffix('/').removesuffix('.git')}"


def _read_git(source: Source, files: Sequence[File]) -> Iterator[tuple[File, bytes]]:
    command = _git(source.root, "-c", CACHE, "cat-file", "--batch", "--buffer")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "pipesize": PIPE_BYTES}
    with subprocess.Popen(command, env=_environment(), **pipes) as git:
        # git answers while it is still being asked: one side has to run beside the other
        asking = threading.Thread(target=_ask, args=(git.stdin, files), daemon=True)
        asking.start()
        try:
            for file in files:
                head = git.stdout.readline().split()
                if len(head) != 3 or head[1] != b"blob":
                    found = b" ".join(head).decode() or "nothing"
                    raise SourceError(f"{source.root}: git answered {found!r} for {file.path}, expected a blob")
                text = git.stdout.read(int(head[2]))
                if git.stdout.read(1) != b"\n":
                    raise SourceError(f"{source.root}: {file.path} ends after {len(text)} of {int(head[2])} bytes")
                yield file, text
        finally:
            git.kill()
            asking.join()


def _ask(stdin: IO[bytes], files: Sequence[File]) -> None:
    with contextlib.suppress(BrokenPipeError), stdin:  # the reader stopped early and says why
        stdin.write("".join(f"{file.blob}\n" for file in files).encode())


def _open_folder(root: Path) -> Source:
    found = sorted(_list_folder(root))
    names = {path.relative_to(root).as_posix(): path for path in found}
    blobs = {name: _hash_blob(path) for name, path in names.items() if path.is_file() and not path.is_symlink()}
    others = {name: path for name, path in names.items() if name not in blobs}
    links = {name: str(path.readlink()) if path.is_symlink() else "" for name, path in others.items()}
    files = (*itertools.starmap(File, blobs.items()), *_follow(links, blobs))
    absent = frozenset(file.blob for file in files if not file.blob)
    return Source(root, files=tuple(sorted(files)), absent=absent)


def _list_folder(root: Path) -> Iterator[Path]:
    def refuse(error: OSError) -> None:
        raise SourceError(f"{error.filename}: {error.strerror}, expected a readable folder") from error

    for folder, folders, names in os.walk(root, onerror=refuse):
        inside = (Path(folder) / name for name in (*folders, *names))
        yield from (path for path in inside if path.is_symlink() or not path.is_dir())


def _hash_blob(path: Path) -> str:
    """Return the id that git would give the file, so that a folder and a clone agree."""
    digest = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as stream:
        for chunk in iter(lambda: stream.read(1 << 20), b""):
            digest.update(chunk)
    return digest.hexdigest()


def _read_folder(source: Source, files: Sequence[File]) -> Iterator[tuple[File, bytes]]:
    for file in files:
        try:
            yield file, (source.root / file.content_path).read_bytes()
        except OSError as error:
            raise SourceError(f"{source.root / file.path}: {error.strerror}, expected a readable file") from error


def _run_git(root: Path | None, *arguments: str, given: str = "") -> str:
    done = subprocess.run(
        _git(root, *arguments), input=given.encode(), capture_output=True, env=_environment(), check=False
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise SourceError(f"git {arguments[0]} in {root or 'a new folder'}: {said[-1] if said else 'failed'}")
    return done.stdout.decode("utf-8", "surrogateescape")


def _git(root: Path | None, *arguments: str) -> list[str]:
    if root is None:
        return ["git", *arguments]
    # named, since git looks upwards for another repository where this one is broken
    folder = root / ".git" if (root / ".git").exists() else root
    return ["git", f"--git-dir={folder}", *arguments]


def _environment() -> dict[str, str]:
    """Return the environment without what git sets in hooks, which names another repository than ours."""
    given = {name: value for name, value in os.environ.items() if name not in _REDIRECTING}
    return given | {"GIT_NO_REPLACE_OBJECTS": "1"}  # a blob is what its id says
