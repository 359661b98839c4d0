import { type } from "arktype";

/** The schema builder that some hosts put on the `pi` object: called itself, or by the name of its module. */
export function loadArktype(): object {
  return new Proxy(type, {
    get: (builder, name) => (name === "type" ? builder : Reflect.get(builder, name)),
  });
}
