import { type Abstract, type FactoryProvider, type Type } from '@nestjs/common';

/** An injection token: a class carries the type of its instance, a symbol does not. */
type Token<T> = Type<T> | Abstract<T> | symbol;
type Tokens<Args extends readonly unknown[]> = { [I in keyof Args]: Token<Args[I]> };

/**
 * Makes a Nest provider, in one line, of a class that does not depend on Nest: `provide(PriceStore, Database)`. The
 * tokens stand for the constructor's arguments, in their order.
 */
export function provide<Args extends readonly unknown[], T>(
  type: new (...args: Args) => T,
  ...inject: Tokens<Args>
): FactoryProvider<T> {
  return {
    provide: type,
    inject: [...inject],
    useFactory: (...args: unknown[]) => new type(...(args as unknown as Args)),
  };
}
