import { ExtensionError } from "../../extensions/api/errors.ts";

/** A function that is there, so that modules load, and says when it is used that it cannot be. */
export function unsupported(name: string): () => never {
  return () => {
    throw new ExtensionError("not_supported", `${name} is not supported by this host`);
  };
}

export function unsupportedClass(name: string): new (...given: unknown[]) => object {
  return class {
    constructor() {
      unsupported(name)();
    }
  };
}
