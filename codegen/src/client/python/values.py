def _header(name: str, value: str) -> str:
    """The value of a header. The error does not contain it, because it may be a token."""
    if not value or not all(" " <= letter <= "~" for letter in value):
        raise ValueError(f"{name} is empty or has characters that cannot stand in a header")
    return value


def _address(path: str, base_url: str) -> str:
    """The address of a call. A link, such as that of a file, is an address of its own."""
    if "://" in path:
        return path
    # httpx would remove these parts, and the address would be that of another operation.
    if any(part in (".", "..") for part in path.split("/")):
        raise ValueError("`.` and `..` are no values of a path")
    return base_url + path


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _list(name: str, values: Sequence[object]) -> str:
    """Empty ``fields`` select no field, but a blank parameter counts as missing."""
    return "," if name == "fields" and not values else ",".join(map(_text, values))


def _query(values: Mapping[str, Any]) -> List[Tuple[str, str]]:
    """The parameters. ``q_extra`` has filters that the types do not list."""
    query: List[Tuple[str, str]] = []
    for name, value in values.items():
        if value is None:
            continue
        if isinstance(value, Mapping):
            query += _filters("q" if name == "q_extra" else name, value)
        elif _is_list(value):
            is_flat = not any(isinstance(element, Mapping) for element in value)
            query.append((name, _list(name, value) if is_flat else json.dumps(value)))
        else:
            query.append((name, _text(value)))
    return query


def _renamed(values: Mapping[str, Any], names: Mapping[str, str]) -> Dict[str, Any]:
    return {names.get(name, name): value for name, value in values.items()}


def _filters(name: str, filters: Mapping[str, Any]) -> List[Tuple[str, str]]:
    """A list has brackets, so that its elements may contain commas.

    An empty list or group is sent too: the server answers 422, but without the filter the call would return all records.
    """
    query: List[Tuple[str, str]] = []
    for key, value in filters.items():
        parameter = f"{name}[{key}]"
        if isinstance(value, Mapping) and value:
            query += _filters(parameter, value)
        elif isinstance(value, Mapping) or _is_list(value):
            query += [(f"{parameter}[]", _text(element)) for element in value] or [(parameter, "")]
        elif value is not None:
            query.append((parameter, _text(value)))
    return query


def _form(body: Mapping[str, Any]) -> Dict[str, Any]:
    """The arguments of a request with a form."""
    data: Dict[str, str] = {}
    files: Dict[str, Any] = {}
    for name, value in body.items():
        if value is None:
            continue
        if isinstance(value, Upload):
            files[name] = (value.name, value.content, value.type)
        elif isinstance(value, Mapping) or _is_list(value):
            data[name] = json.dumps(value)
        else:
            data[name] = _text(value)
    return {"data": data, "files": files}
