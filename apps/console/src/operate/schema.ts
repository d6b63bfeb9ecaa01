/** Fields and schemas that several routes for operators share. */
import { applyDecorators } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import { type PartnerId, STAKE_SET_RULE } from '#libs/domain';
import { Field } from '#libs/openapi';
import * as Input from '../http/inputs.js';

export const PAGE_SIZE = 50;

/** Description of a cursor in the contract. */
export const AFTER = '`next` of the page before.';

/** A cursor: the number of the last row of the previous page. */
export function AfterNumber(): PropertyDecorator {
  return applyDecorators(
    Input.Matching(/^\d{1,18}$/, 'be `next` of the page before', { description: AFTER }),
    Input.Optional(),
  );
}

/** The name of a stake set; absent for the default one. */
export function StakeSetParameter(): PropertyDecorator {
  const must = `be ${STAKE_SET_RULE}, given once`;
  return applyDecorators(
    Input.Matching(/^[a-z][a-z0-9]{0,30}$/, must, { description: 'Default: `default`.' }),
    Input.Optional(),
  );
}

@ApiSchema({ name: 'NamedPartner' })
export class NamedPartner {
  @Field.Text() readonly id!: string;
  @Field.Text() readonly name!: string;
}

/** A partner as answers show it; where the name is not known, by its id. @param names of `PartnerStore.names` */
export function namedPartner(names: ReadonlyMap<PartnerId, string>, id: PartnerId): NamedPartner {
  return { id, name: names.get(id) ?? id };
}
