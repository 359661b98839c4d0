import { FileSessionStore } from "../../../../packages/sessions/dist/index.js";

/** A store in the folder that the address names behind a question mark. */
export default (address) => new FileSessionStore({ directory: address.split("?")[1] });
