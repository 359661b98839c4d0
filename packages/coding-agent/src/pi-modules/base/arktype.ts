import { type } from "arktype";

/**
 * The schema builder that some hosts add to the `pi` object; it can be called directly or as a member of its module.
 */
export function loadArktype(): object {
  return new Proxy(type, {
    get: (builder, name) => (name === "type" ? builder : Reflect.get(builder, name)),
  });
}
