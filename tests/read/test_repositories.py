"""Tests of `sources`: every way to hold a results repository reads alike."""

import os
import shutil
import threading

import pytest

from mlperf_claims.read.repositories import SourceError, clone, fetch_absent, link, open_source, read_files, sort_files

FILES = {"Org + Co/results/a b.txt": b"one\n", "big.bin": b"\0\xff" * 5000, "empty": b"", "x.txt": b"two\r\n"}
LINKS = {  # path: where it leads
    **{"link.txt": "x.txt", "twice.txt": "./link.txt", "linked": "Org + Co/results", "Org + Co/back": "../big.bin"},
    **{"deep/one/two/f.txt": "../../../x.txt", "dl": "deep/one/two", "up.txt": "dl/../f.txt", "x.txt0": "x.txt"},
    **{"through.txt": "dl/f.txt", "absolute": "/etc/hostname", "loop": "loop", "missing": "nothing.txt"},
    **{"outside": "../../x.txt"},
}
NOWHERE = "0" * 39 + "1"  # a commit that no repository has


@pytest.fixture
def work(tmp_path, git):
    """A repository with a work tree: two older commits with another x.txt, then FILES."""
    root = tmp_path / "made here" / "repo"
    root.mkdir(parents=True)
    git("init", "--quiet", cwd=root)
    git("config", "uploadpack.allowFilter", "true", cwd=root)
    git("config", "uploadpack.allowAnySHA1InWant", "true", cwd=root)
    for path, content in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    for content in (b"oldest", b"older", FILES["x.txt"]):
        (root / "x.txt").write_bytes(content)
        commit_all(git, root)
    return root


@pytest.fixture
def partial(work, tmp_path, git):
    """A bare clone of it without any file's content."""
    target = tmp_path / "partial.git"
    git("clone", "--quiet", "--bare", "--filter=blob:none", "--depth=1", work.as_uri(), target)
    return target


def commit_all(git, root):
    git("add", "--all", cwd=root)
    git("commit", "--quiet", "--message=files", cwd=root)


def list_objects(git, root):
    return sorted(git("cat-file", "--batch-all-objects", "--batch-check", cwd=root).splitlines())


def test_every_kind_of_source_lists_the_same_files(work, partial, tmp_path, git):
    """Work tree, bare clone, partial clone and plain folder give equal paths and blob ids, sorted."""
    git("clone", "--quiet", "--bare", work, tmp_path / "bare.git")
    shutil.copytree(work, tmp_path / "plain", ignore=shutil.ignore_patterns(".git"))
    expected = [(path, git("hash-object", "--no-filters", path, cwd=work)) for path in sorted(FILES)]
    for root in (work, tmp_path / "bare.git", partial, tmp_path / "plain"):
        assert [(file.path, file.blob) for file in open_source(root).files] == expected


def test_files_are_sorted_by_what_git_stores_them_as_a_change_of(work, git):
    """A file comes right after the one git needs to have it, and none is lost; a folder has no such order."""
    text = b"".join(b"line %d of a long text\n" % number for number in range(200))
    for name, more in (("m", b""), ("a", b"1"), ("z", b"22"), ("k", b"333")):
        (work / f"{name}.txt").write_bytes(text + more)
    commit_all(git, work)
    git("repack", "-a", "-d", "-f", "--quiet", cwd=work)
    form = "--batch-check=%(objectname) %(deltabase)"
    bases = dict(line.split() for line in git("cat-file", "--batch-all-objects", form, cwd=work).splitlines())
    source = open_source(work)
    found = [file.blob for file in sort_files(source, source.files)]
    assert sorted(found) == sorted(file.blob for file in source.files)
    needing = [blob for blob in found if bases[blob] in found]
    assert len(needing) == 3  # of the four that are alike, git stores one whole
    assert all(found.index(bases[blob]) < found.index(blob) <= found.index(bases[blob]) + 3 for blob in needing)


@pytest.mark.parametrize("kind", ["work tree", "plain folder"])
def test_files_are_read_byte_for_byte_in_the_order_asked(work, kind):
    """Bytes come as they are stored, in the caller's order, repeated where asked twice."""
    if kind == "plain folder":
        shutil.rmtree(work / ".git")
    source = open_source(work)
    wanted = [source.files[i] for i in (3, 0, 1, 2, 0)]
    expected = [(file, FILES[file.path]) for file in wanted]
    assert list(read_files(source, wanted)) == expected
    assert list(read_files(source, [])) == []


def test_an_older_commit_is_read_as_it_was(work, git):
    """The commit asked for is read, whatever is checked out."""
    source = open_source(work, commit=git("rev-parse", "HEAD~1", cwd=work))
    file = next(file for file in source.files if file.path == "x.txt")
    assert [text for _, text in read_files(source, [file])] == [b"older"]


def test_opening_a_partial_clone_lists_what_is_absent_and_fetches_nothing(partial, git):
    """Every blob of a blobless clone is named as absent, and none is brought in by looking."""
    before = list_objects(git, partial)
    source = open_source(partial)
    assert source.absent == {file.blob for file in source.files}
    assert list_objects(git, partial) == before


def test_fetch_absent_brings_the_wanted_files_and_no_other(partial, git):
    """Only the blobs asked for arrive, and the source says what is still absent."""
    source = open_source(partial)
    before = list_objects(git, partial)
    wanted = [file for file in source.files if file.path in ("x.txt", "Org + Co/results/a b.txt")]
    source = fetch_absent(source, wanted)
    arrived = {line.split()[0] for line in set(list_objects(git, partial)) - set(before)}
    assert arrived == {file.blob for file in wanted}
    assert source.absent == {file.blob for file in source.files} - arrived
    assert [text for _, text in read_files(source, wanted)] == [b"one\n", b"two\r\n"]


def test_fetching_what_is_there_asks_nobody(work):
    """A full clone is returned as it is, also with its remote gone."""
    source = open_source(work)
    assert fetch_absent(source, source.files) is source


@pytest.mark.parametrize("ask", [read_files, fetch_absent], ids=["read", "fetch"])
def test_absent_file_whose_remote_is_gone_is_an_error(work, partial, ask):
    """A file that cannot be had is a SourceError naming the clone, not a hang."""
    source = open_source(partial)
    work.rename(work.with_name("moved"))
    with pytest.raises(SourceError, match=r"partial\.git"):
        list(ask(source, source.files))


def test_missing_folder_is_named(tmp_path):
    """A folder that is not there is named, with what was expected."""
    with pytest.raises(SourceError, match=r"nowhere: no such folder, expected a results repository"):
        open_source(tmp_path / "nowhere")


def test_missing_commit_is_named(work):
    """A commit that is not there is named, and so is the repository."""
    with pytest.raises(SourceError, match=f"repo.*{NOWHERE}"):
        open_source(work, commit=NOWHERE)


def test_repository_without_a_commit_is_an_error(tmp_path, git):
    """An empty repository has nothing to list."""
    git("init", "--quiet", tmp_path / "new")
    with pytest.raises(SourceError, match=r"new: no commit HEAD, expected one that the clone holds"):
        open_source(tmp_path / "new")


def test_folder_inside_a_repository_is_a_plain_folder(work):
    """A folder merely inside a git repository is read as files, not as that repository."""
    source = open_source(work / "Org + Co")
    assert (source.commit, [file.path for file in source.files]) == ("", ["results/a b.txt"])


def test_broken_clone_inside_a_repository_is_an_error(work):
    """A folder whose .git is no repository must not stand for the repository around it."""
    (work / "inner" / ".git").mkdir(parents=True)
    with pytest.raises(SourceError, match="inner"):
        open_source(work / "inner")


def test_environment_of_a_git_hook_does_not_redirect(work, partial, monkeypatch):
    """GIT_DIR, which hooks and `git rebase --exec` set, does not make git read another repository."""
    expected = open_source(partial)
    monkeypatch.setenv("GIT_DIR", str(work / ".git"))
    assert open_source(partial) == expected  # the other holds the same files, and none is absent


def test_links_are_followed_within_the_source(work, git):
    """A link stands for the file, or the files of the folder, it leads to; other links have no content."""
    for path, target in LINKS.items():
        (work / path).parent.mkdir(parents=True, exist_ok=True)
        (work / path).symlink_to(target)
    for path in ("f.txt", "deep/one/f.txt"):
        (work / path).write_text(path)
    commit_all(git, work)
    git("update-index", "--add", "--cacheinfo", f"160000,{NOWHERE},module", cwd=work)
    git("commit", "--quiet", "--message=module", cwd=work)
    (deep,) = [path for path in FILES if "/" in path]
    followed = {"link.txt": "x.txt", "twice.txt": "x.txt", "linked/a b.txt": deep, "Org + Co/back": "big.bin"}
    followed |= {"deep/one/two/f.txt": "x.txt", "dl/f.txt": "x.txt", "x.txt0": "x.txt", "through.txt": "x.txt"}
    followed |= {"up.txt": "deep/one/f.txt"}  # as a file system does, and not the f.txt beside the link
    nowhere = ["absolute", "loop", "missing", "outside"]
    for module in (["module"], []):
        source = open_source(work)
        assert [file.path for file in source.files if not file.blob] == sorted(nowhere + module)
        assert "" in source.absent
        links = [file for file in source.files if file.stored_at]
        assert {file.path: file.content_path for file in links} == followed
        assert {file.path: text for file, text in read_files(source, links)} == {
            path: FILES.get(target, target.encode()) for path, target in followed.items()
        }
        assert all(
            (work / path).read_bytes() == FILES.get(target, target.encode()) for path, target in followed.items()
        )
        shutil.rmtree(work / ".git", ignore_errors=True)  # and once more as a plain folder


def test_blob_is_read_and_not_what_replaces_it(work, git):
    """Git can be told to give another content for an id; what a blob's id says is what is read."""
    git("replace", git("hash-object", "x.txt", cwd=work), git("hash-object", "big.bin", cwd=work), cwd=work)
    source = open_source(work)
    (file,) = [file for file in source.files if file.path == "x.txt"]
    assert [text for _, text in read_files(source, [file])] == [FILES["x.txt"]]


def test_name_that_is_not_utf8_is_read(work, git):
    """A file name in another encoding is listed and read."""
    (work / os.fsdecode(b"caf\xe9.txt")).write_bytes(b"latin")
    commit_all(git, work)
    source = open_source(work)
    file = next(file for file in source.files if file.path.startswith("caf"))
    assert [text for _, text in read_files(source, [file])] == [b"latin"]


@pytest.mark.parametrize("count", [1, 3, 60])  # nothing, less and more than READ_AHEAD left in the queue
def test_reader_that_stops_early_does_not_hang(work, git, count):
    """Closing the iterator after one file ends git and both threads."""
    for i in range(count):
        (work / f"many {i}.bin").write_bytes(bytes([i]) * 200_000)
    commit_all(git, work)
    source = open_source(work)
    running = threading.active_count()
    reading = read_files(source, [file for file in source.files if file.path.startswith("many")])
    next(reading)
    closing = threading.Thread(target=reading.close, daemon=True)
    closing.start()
    closing.join(20)
    assert not closing.is_alive()
    assert threading.active_count() == running


def test_file_that_vanished_from_a_folder_is_named(tmp_path):
    """A file deleted since the listing is an error with its path."""
    (tmp_path / "a.txt").write_bytes(b"a")
    source = open_source(tmp_path)
    (tmp_path / "a.txt").unlink()
    with pytest.raises(SourceError, match=r"a\.txt: No such file or directory, expected a readable file"):
        list(read_files(source, source.files))


def test_clone_of_an_older_commit_leaves_the_history_behind(work, tmp_path, git):
    """Only the remote's HEAD and the pinned commit come, however many are behind them."""
    wanted = git("rev-parse", "HEAD", "HEAD~1", cwd=work).split()
    clone(work.as_uri(), tmp_path / "repo.git", commit=wanted[1])
    held = (line.split() for line in list_objects(git, tmp_path / "repo.git"))
    assert {name for name, kind, _ in held if kind == "commit"} == set(wanted)


@pytest.mark.parametrize("age", [0, 1])  # HEAD of the remote; not its HEAD
def test_clone_brings_the_trees_of_the_pinned_commit(work, tmp_path, git, age):
    """The pinned commit can be listed after cloning, and no file's content came with it."""
    commit, target = git("rev-parse", f"HEAD~{age}", cwd=work), tmp_path / "new" / "repo.git"
    clone(work.as_uri(), target, commit=commit)
    source = open_source(target, commit=commit)
    assert (source.commit, source.name) == (commit, "repo")
    assert [file.path for file in source.files] == sorted(FILES)
    assert source.absent == {file.blob for file in source.files}


def test_cloning_again_asks_nobody(work, tmp_path, git):
    """A clone that holds the pinned commit is left as it is, also with its remote gone."""
    commit, url, target = git("rev-parse", "HEAD", cwd=work), work.as_uri(), tmp_path / "repo.git"
    clone(url, target, commit=commit)
    work.rename(work.with_name("moved"))
    clone(url, target, commit=commit)
    assert open_source(target).commit == commit


@pytest.mark.parametrize(
    ("gone", "commit", "words"),
    [
        ("", NOWHERE, f"git fetch in .*not our ref {NOWHERE}"),
        ("-gone", NOWHERE, "git clone in a new folder: .*"),
        ("", "--upload-pack=touch pwned;", "expected 40 hexadecimal digits"),  # a commit is no place for an option
    ],
)
def test_what_cannot_be_cloned_is_said_in_gits_words(work, tmp_path, monkeypatch, gone, commit, words):
    """A remote or commit that cannot be had is a SourceError, and nothing else is run."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceError, match=words):
        clone(work.as_uri() + gone, tmp_path / "repo.git", commit=commit)
    assert not list(tmp_path.rglob("pwned"))


@pytest.mark.parametrize(
    ("remote", "url"),
    [
        ("https://github.com/mlcommons/r.git", "https://github.com/mlcommons/r"),
        ("https://github.com/mlcommons/r/", "https://github.com/mlcommons/r"),
        ("git@github.com:mlcommons/r.git", ""),  # no web address
        ("https://me:secret@github.com/o/r", "https://github.com/o/r"),  # a token must not reach the report
    ],
)
def test_url_is_the_web_address_of_the_remote(work, git, remote, url):
    """The remote's https address is kept without .git; others are no place to link to."""
    git("remote", "add", "origin", remote, cwd=work)
    assert open_source(work).url == url


@pytest.mark.parametrize(
    ("path", "lines", "expected"),
    [
        ("a/b.txt", (), "a/b.txt"),
        ("a/b.txt", (3,), "a/b.txt#L3"),
        ("a/b.txt", (3, 5), "a/b.txt#L3-L5"),
        ("Org + Co/a b#1?.txt", (3,), "Org%20%2B%20Co/a%20b%231%3F.txt#L3"),
        ("100%/é.txt", (), "100%25/%C3%A9.txt"),
    ],
)
def test_link_quotes_the_path_and_anchors_the_lines(path, lines, expected):
    """A link opens in a browser at the lines meant."""
    assert link("https://h/o/r", "abc", path, *lines) == f"https://h/o/r/blob/abc/{expected}"


@pytest.mark.parametrize(("url", "commit"), [("", "abc"), ("https://h/o/r", "")])
def test_link_without_an_address_is_empty(url, commit):
    """No link is better than one that leads nowhere."""
    assert link(url, commit, "a.txt", 3) == ""
