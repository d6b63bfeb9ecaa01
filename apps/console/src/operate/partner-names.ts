import { ApiSchema } from '@nestjs/swagger';
import { Field } from '#libs/openapi';

@ApiSchema({ name: 'NamedPartner' })
export class NamedPartner {
  @Field.Text() readonly id!: string;
  @Field.Text() readonly name!: string;
}

/** A partner as rows of answers name it. @param names of `PartnerStore.names` */
export function namedPartner(names: ReadonlyMap<string, string>, id: string): NamedPartner {
  return { id, name: names.get(id) ?? id };
}
