// Assertions, arguments and a record of the requests for the scripts of the tests.

import { ApiError } from "./client.js";

declare const process: { argv: string[] };

/** An argument of the script, from 0. */
export function argument(at: number): string {
  const value = process.argv[at + 2];
  if (value === undefined) {
    throw new Error(`argument ${at} is missing`);
  }
  return value;
}

export function equal(actual: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(actual), JSON.stringify(expected)];
  if (one !== other) {
    throw new Error(`${one} is not ${other}`);
  }
}

/** The error of a call that must fail with this class. */
export async function failure<E extends Error>(type: new (...details: never[]) => E, call: Promise<unknown>): Promise<E> {
  try {
    await call;
  } catch (error) {
    if (error instanceof type) {
      return error;
    }
    throw error;
  }
  throw new Error(`the call does not throw ${type.name}`);
}

/** Waits for a call that the server may refuse because of the state of the record. */
export async function answered(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof ApiError && [409, 422].includes(error.status))) {
      throw error;
    }
  }
}

/** Records the operations that are called. */
export class Recorder {
  readonly #called: string[] = [];

  readonly fetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const url = input instanceof Request ? input.url : input;
    this.#called.push(`${init?.method ?? "GET"} ${new URL(url).pathname}`);
    return fetch(input, init);
  };

  /** The operations of a document that were not called, and the number of all. */
  missing(document: { paths: Record<string, Record<string, unknown>> }): { missing: string[]; count: number } {
    const templates = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    // A path without parameters has precedence.
    templates.sort((one, other) => one.split("{").length - other.split("{").length);
    const called = new Set<string>();
    for (const request of this.#called) {
      const template = templates.find((name) => {
        const pattern = name.replace(/[.]/g, "\\.").replace(/\{[^}]+\}/g, "[^/]+");
        return new RegExp(`^${pattern}$`).test(request);
      });
      called.add(template ?? `unknown: ${request}`);
    }
    return { missing: templates.filter((template) => !called.has(template)), count: templates.length };
  }
}
