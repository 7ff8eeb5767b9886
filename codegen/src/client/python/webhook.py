class WebhookVerificationError(Exception):
    """A webhook delivery without a valid signature or with a time outside the tolerance."""


def _verified(secret: str, headers: Mapping[str, str], body: bytes, tolerance: float) -> Any:
    """The JSON of a delivery whose ``webhook-signature`` is valid."""
    given = {name.lower(): value for name, value in headers.items()}
    try:
        delivery, timestamp = given["webhook-id"], given["webhook-timestamp"]
        signatures = given["webhook-signature"].split(" ")
    except KeyError as missing:
        raise WebhookVerificationError(f"The delivery has no header {missing}.") from None
    is_number = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 15
    if not is_number or not abs(time.time() - int(timestamp)) <= tolerance:
        raise WebhookVerificationError("The time of the delivery is outside the tolerance.")
    try:
        key = base64.b64decode(secret.removeprefix("whsec_"), validate=True)
    except ValueError:
        key = b""
    # Everybody can sign with an empty key.
    if not key:
        raise WebhookVerificationError("The secret is empty or not base64.")
    signed = f"{delivery}.{timestamp}.".encode(errors="replace") + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    expected = b"v1," + base64.b64encode(digest)
    if not any(hmac.compare_digest(expected, signature.encode(errors="replace")) for signature in signatures):
        raise WebhookVerificationError("No signature of the delivery is valid.")
    return json.loads(body)
