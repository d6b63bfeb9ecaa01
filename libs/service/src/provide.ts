import { type Abstract, type FactoryProvider, type Type } from '@nestjs/common';

/** What the container knows a value by; a class says its type, a symbol does not. */
type Token<T> = Type<T> | Abstract<T> | symbol;
type Tokens<Args extends readonly unknown[]> = { [I in keyof Args]: Token<Args[I]> };

/**
 * A class that knows nothing of Nest as a provider, in one line: `provide(PriceStore, Database)`. The tokens stand for the
 * arguments of its constructor, in their order.
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
