/**
 * What comes back of a `T` that was kept as JSON: a `Date` as text, a `Map` as `{}`, `undefined` within a list as null, and
 * members that JSON leaves out (functions, symbols, `undefined`) not at all. `never` for a bigint, which JSON refuses.
 *
 * A type cannot say that `NaN` and `Infinity` come back as null.
 */
export type Json<T> = 0 extends 1 & T
  ? T
  : unknown extends T
    ? unknown
    : T extends string | number | boolean | null | undefined
      ? T
      : T extends void | symbol | Method
        ? undefined
        : T extends bigint
          ? never
          : T extends { toJSON: (...key: never[]) => infer J }
            ? Json<J>
            : T extends readonly unknown[]
              ? { -readonly [Index in keyof T]: InList<T[Index]> }
              : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown>
                ? Record<string, never>
                : T extends object
                  ? Members<T>
                  : never;

type Method = (...args: never[]) => unknown;
type NotThere = undefined | symbol | Method;

type InList<T> = 0 extends 1 & T ? T : T extends NotThere ? null : Json<T>;

/** Members that may be undefined may be missing, those that are always left out are. */
type Members<T> = Simplify<
  {
    -readonly [Name in keyof T as Kept<Name, T[Name], true>]: Json<T[Name]>;
  } & {
    -readonly [Name in keyof T as Kept<Name, T[Name], false>]?: Json<Exclude<T[Name], NotThere>>;
  }
>;

type Kept<Name, Value, Always extends boolean> = Name extends symbol
  ? never
  : unknown extends Value
    ? Always extends true
      ? Name
      : never
    : [Exclude<Value, NotThere>] extends [never]
      ? never
      : [Extract<Value, NotThere>] extends [never]
        ? Always extends true
          ? Name
          : never
        : Always extends true
          ? never
          : Name;

type Simplify<T> = { [Name in keyof T]: T[Name] };
