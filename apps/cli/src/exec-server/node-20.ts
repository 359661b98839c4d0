import { createRequire } from "node:module";

// Features of newer Node versions that this program uses, added to Node 20.

const require = createRequire(`${process.cwd()}/`);
process.getBuiltinModule ??= ((name: string) => require(name)) as typeof process.getBuiltinModule;

Promise.withResolvers ??= function withResolvers<Value>() {
  let resolve: PromiseWithResolvers<Value>["resolve"] = () => {};
  let reject: PromiseWithResolvers<Value>["reject"] = () => {};
  const promise = new Promise<Value>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
};
