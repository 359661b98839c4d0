// A client for the rounds' store, which runs in the campaign's process and can be cut off.

/** The store at the address after the question mark. */
export default (text) => {
  const [, address] = text.split("?");
  const call = async (method, args) => {
    const response = await fetch(address, {
      method: "POST",
      body: JSON.stringify({ method, args }),
    });
    const { result, code, message } = await response.json();
    if (code !== undefined) throw Object.assign(new Error(message), { code });
    return result;
  };
  const methods = ["acquire", "renew", "release", "append", "load", "list", "delete"];
  return {
    ...Object.fromEntries(methods.map((name) => [name, (...args) => call(name, args)])),
    putBlob: async (key, bytes) => call("putBlob", [key, Buffer.from(bytes).toString("base64")]),
    getBlob: async (key, id) => {
      const found = await call("getBlob", [key, id]);
      return found === null ? null : Buffer.from(found, "base64");
    },
  };
};
