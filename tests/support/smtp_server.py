"""SMTP server of the tests, by aiosmtpd. It prints its port, then each mail as a line of JSON, and ends with its input.

The part of a recipient before the @ decides the answer: `refused` is 550, `hanging` gets none, and `quoted` is 550 with the
text of the mail.
"""

import argparse
import asyncio
import email
import email.policy
import json
import logging
import os
import ssl
import sys
import threading
import warnings

from aiosmtpd.smtp import SMTP, AuthResult

# Failed handshakes are part of the tests.
logging.getLogger("mail.log").setLevel(logging.CRITICAL)
warnings.simplefilter("ignore")

arguments = argparse.ArgumentParser()
arguments.add_argument("--certificate")
arguments.add_argument("--key")
arguments.add_argument("--implicit", action="store_true")
arguments.add_argument("--user")
arguments.add_argument("--password")
options = arguments.parse_args()


def authenticate(server, session, envelope, mechanism, sent):
    known = (options.user.encode(), options.password.encode())
    is_valid = (sent.login, sent.password) == known
    return AuthResult(success=is_valid, handled=is_valid)


class Handler:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("hanging@"):
            await asyncio.sleep(3600)
        if address.startswith("refused@"):
            return f"550 5.1.1 <{address}>: there is no such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        message = email.message_from_bytes(envelope.content, policy=email.policy.default)
        text = message.get_content().replace("\r\n", "\n")
        if envelope.rcpt_tos[0].startswith("quoted@"):
            return "550 5.7.1 denied: " + text.replace("\n", " ")
        mail = {
            "sender": envelope.mail_from,
            "recipients": envelope.rcpt_tos,
            "headers": [[name, str(value)] for name, value in message.items()],
            "text": text,
            "is_encrypted": session.ssl is not None or options.implicit,
            "is_authenticated": bool(session.authenticated),
        }
        print(json.dumps(mail), flush=True)
        return "250 2.0.0 queued"


def certified():
    if not options.certificate:
        return None
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(options.certificate, options.key)
    return context


async def serve():
    context = certified()
    starttls = None if options.implicit else context
    needs_user = options.user is not None
    session = dict(
        hostname="mail.test",
        tls_context=starttls,
        require_starttls=starttls is not None,
        authenticator=authenticate if needs_user else None,
        auth_required=needs_user,
        auth_require_tls=starttls is not None,
    )
    loop = asyncio.get_running_loop()
    implicit = context if options.implicit else None
    server = await loop.create_server(lambda: SMTP(Handler(), **session), "127.0.0.1", 0, ssl=implicit)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def end_with_input():
    sys.stdin.read()
    os._exit(0)


threading.Thread(target=end_with_input, daemon=True).start()
asyncio.run(serve())
