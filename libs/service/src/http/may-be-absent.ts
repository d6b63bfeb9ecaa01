import { ValidateIf } from 'class-validator';

/**
 * Marks a field of a request as optional: absent, it is not validated. JSON null is a value like any other, which the
 * field's own rules refuse. (`IsOptional` of class-validator would let null pass, so no request uses it.)
 */
export function MayBeAbsent(): PropertyDecorator {
  return ValidateIf((_, value: unknown) => value !== undefined);
}
