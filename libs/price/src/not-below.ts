import { ValidateBy, type ValidationArguments } from 'class-validator';
import { type Decimal } from '#libs/domain';
import { comparePrices } from './share.js';

/** Of PRICE_MAX_USD: a range without a price in it holds each. */
export function NotBelowMinimum(): PropertyDecorator {
  return ValidateBy({
    name: 'notBelowMinimum',
    validator: {
      validate: (max: Decimal | undefined, args?: ValidationArguments) => {
        const { priceMinUsd: min } = (args?.object ?? {}) as { readonly priceMinUsd?: Decimal };
        return min === undefined || max === undefined || comparePrices(max, min) >= 0;
      },
      defaultMessage: () => 'must not be below PRICE_MIN_USD',
    },
  });
}
