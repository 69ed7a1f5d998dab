"""By which name a user knows an object, and which object a name in a docstring means."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from autoindex_pyserini.collection.python_objects import Definition, Module, is_public, walk_documented

type _Key = tuple[str, str]
"""(module, path in the module): where a definition stands."""

_USUAL_SHORT_NAMES = {"np": "numpy", "plt": "matplotlib.pyplot", "mpl": "matplotlib", "pd": "pandas"}


class Names:
    """Names of the documented objects of one package.

    Attributes:
        package: the top-level package.
        documented: docid -> definition, ordered by docid.
    """

    def __init__(self, package: str, modules: dict[str, Module]) -> None:
        """Find out the public name of everything in `modules` (all modules of `package`)."""
        self.package = package
        self._modules = modules
        self._objects: dict[_Key, Definition] = {}
        for module in modules.values():
            for definition in module.definitions.values():
                self._objects.setdefault((definition.module, definition.path), definition)
        self._paths = self._public_paths()
        self._subclasses = self._public_subclasses()
        self._docids: dict[_Key, str] = {}
        self.documented = self._name_all()
        self._endings = self._by_last_name()

    # Public names

    def _public_paths(self) -> dict[_Key, list[str]]:
        """Every public path to each definition at a module's level; the best comes first."""
        paths: defaultdict[_Key, set[str]] = defaultdict(set)
        for module in self._modules.values():
            if not is_public(module.name):
                continue
            offered = {path for path in module.definitions if "." not in path and ":" not in path}
            if module.is_package or module.exported is not None:
                offered |= self._offered(module.name, frozenset())
            for name in offered:
                key = self._follow(module.name, name)
                if key is not None and is_public(name):
                    paths[key].add(f"{module.name}.{name}")
        for module_name, path in self._objects:
            if "." not in path:  # docstrings of C code may belong to modules that have no source
                where = self._modules.get(module_name)
                if where is None and is_public(path):
                    package = ".".join(part for part in module_name.split(".") if not part.startswith("_"))
                    paths[module_name, path].add(f"{package}.{path}")
        return {
            key: sorted(found, key=lambda path: (path.count("."), len(path), path))
            for key, found in paths.items()
        }

    def _offered(self, module_name: str, seen: frozenset[str]) -> set[str]:
        """The names that ``from module import *`` would take."""
        module = self._modules.get(module_name)
        if module is None or module_name in seen:
            return set()
        seen |= {module_name}
        if module.exported is not None:
            names, sources = module.exported
            return set(names).union(*(self._offered(source, seen) for source in sources))
        own = {name for name in module.definitions if "." not in name and ":" not in name}
        stars = (self._offered(source, seen) for source in module.stars)
        return {name for name in own.union(module.imports, *stars) if not name.startswith("_")}

    def _follow(self, module_name: str, name: str, seen: frozenset[_Key] = frozenset()) -> _Key | None:
        """Where the object stands that a name in a module means; None if that is no known object."""
        key = (module_name, name)
        if key in seen:
            return None
        seen |= {key}
        if key in self._objects:
            return key
        module = self._modules.get(module_name)
        if module is None:
            return None
        if name in module.imports:
            source, original = module.imports[name]
            return self._follow(source, original, seen) if original else None
        for source in reversed(module.stars):
            found = self._follow(source, name, seen)
            if found is not None and name in self._offered(source, frozenset()):
                return found
        return None

    # Classes

    def _bases(self, key: _Key) -> Iterator[_Key]:
        for base in self._objects[key].bases:
            head, _, rest = base.partition(".")
            found = self._follow(key[0], head)
            if rest:  # a class in a module, as in ``martist.Artist``
                module = self._modules.get(key[0])
                source = ".".join(filter(None, module.imports.get(head, ("", "")))) if module else ""
                found = self._follow(source, rest)
            if found is not None and found != key:
                yield found

    def _public_subclasses(self) -> dict[_Key, list[_Key]]:
        """Private class -> the public classes that take its members over directly."""
        heirs: defaultdict[_Key, list[_Key]] = defaultdict(list)
        for key, definition in self._objects.items():
            if definition.kind == "class":
                for base in self._bases(key):
                    heirs[base].append(key)

        def public(key: _Key, seen: frozenset[_Key]) -> Iterator[_Key]:
            for heir in heirs[key]:
                if not heir[1].startswith("_"):
                    yield heir
                elif heir not in seen:
                    yield from public(heir, seen | {heir})

        classes = (key for key, each in self._objects.items() if each.kind == "class")
        private = [key for key in classes if key[1].startswith("_")]
        return {key: sorted(set(public(key, frozenset({key})))) for key in private}

    def _name_all(self) -> dict[str, Definition]:
        named: dict[str, Definition] = {}
        for definition in walk_documented(self._modules):
            docid = self._docid(definition)
            if docid is not None:
                named.setdefault(docid, definition)
                self._docids[definition.module, definition.path] = docid
        return dict(sorted(named.items()))

    def _docid(self, definition: Definition) -> str | None:
        """The shortest public path, or where it stands if there is none; None if it is internal."""
        head, _, members = definition.path.partition(".")
        key = (definition.module, head)
        heirs = [heir for heir in self._subclasses.get(key, []) if heir in self._paths]
        if len(heirs) == 1:  # a private base of one public class: its members are that class's own
            key = heirs[0]
            overriding = self._objects.get((key[0], f"{key[1]}.{members}"))
            if overriding is not None and overriding.docstring.strip():
                return None
        if self._paths.get(key):
            top = self._paths[key][0]
        elif is_public(definition.module.rpartition(".")[0]):
            top = f"{key[0]}.{key[1]}"
        else:
            return None  # in a private package, and nothing public passes it on
        return f"{top}.{members}" if members else top

    # References

    def _by_last_name(self) -> dict[str, list[str]]:
        endings: defaultdict[str, list[str]] = defaultdict(list)
        for docid in self.documented:
            endings[docid.rpartition(".")[2]].append(docid)
        return dict(endings)

    def resolve(self, name: str, definition: Definition, docid: str) -> str | None:
        """Find the one document that a name in a docstring means.

        Looked for as an absolute name, then beside the object itself, outwards: in its class, its
        module, the packages around its public name; and last as the end of exactly one docid.

        Args:
            name: as written, such as ``Series.sum`` or ``numpy.linalg.norm``.
            definition: the object whose docstring has the name.
            docid: that object's docid.

        Returns:
            A docid, or None if the name means nothing here or could mean several things.
        """
        head, _, rest = name.partition(".")
        if head in _USUAL_SHORT_NAMES and rest:
            name = f"{_USUAL_SHORT_NAMES[head]}.{rest}"
        scopes = [""]
        if definition.owner:
            scopes.append(f"{docid.rpartition('.')[0]}.")
        scopes.append(f"{definition.module}.")
        around = docid.split(".")[:-1]
        scopes += [".".join(around[:end]) + "." for end in range(len(around), 0, -1)]
        for scope in scopes:
            found = self.absolute(scope + name)
            if found is not None:
                return found
        same_last = self._endings.get(name.rpartition(".")[2], [])
        ending = [each for each in same_last if each.endswith(f".{name}")]
        return ending[0] if len(ending) == 1 else None

    def absolute(self, dotted: str) -> str | None:
        """Find the document with this full name, or which this name leads to by imports or inheritance."""
        if dotted in self.documented:
            return dotted
        parts = dotted.split(".")
        for end in range(len(parts) - 1, 0, -1):
            module = ".".join(parts[:end])
            if module in self._modules:
                key = self._follow(module, parts[end])
                return self._member(key, ".".join(parts[end + 1 :]), frozenset()) if key else None
        return None

    def _member(self, key: _Key, members: str, seen: frozenset[_Key]) -> str | None:
        """The docid of a member of a class, its own or inherited; of the object itself without members."""
        own = (key[0], f"{key[1]}.{members}") if members else key
        if own in self._docids:
            return self._docids[own]
        if not members or key in seen:
            return None
        inherited = (self._member(base, members, seen | {key}) for base in self._bases(key))
        return next((docid for docid in inherited if docid is not None), None)
