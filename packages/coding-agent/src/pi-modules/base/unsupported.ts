import { ExtensionError } from "../../extensions/api/errors.ts";

/** A placeholder function that lets modules load and throws when it is called. */
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
