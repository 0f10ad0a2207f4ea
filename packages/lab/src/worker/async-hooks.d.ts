// What the flag nodejs_als brings: workers-types do not describe it.
declare module "node:async_hooks" {
  export class AsyncLocalStorage<Store> {
    getStore(): Store | undefined;
    run<Result>(store: Store, work: () => Result): Result;
  }
}
