import { Inject, Injectable } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import { Database, PartnerStore } from '#libs/db';
import { CLOCK, type Clock, FreshValue } from '#libs/platform';
import * as Field from '../http/fields.js';

@ApiSchema({ name: 'NamedPartner' })
export class NamedPartner {
  @Field.Text() readonly id!: string;
  @Field.Text() readonly name!: string;
}

const FRESH_MS = 5_000;

/** The names of the partners that rows name by their ids. */
@Injectable()
export class PartnerNames {
  private readonly names: FreshValue<ReadonlyMap<string, string>>;

  constructor(database: Database, @Inject(CLOCK) clock: Clock) {
    const read = async (): Promise<ReadonlyMap<string, string>> => {
      const partners = await new PartnerStore(database).list();
      return new Map(partners.map(({ partnerId, partnerName }) => [partnerId, partnerName]));
    };
    this.names = new FreshValue(read, { clock, ttlMs: FRESH_MS });
  }

  async of(id: string): Promise<NamedPartner> {
    return { id, name: (await this.names.get()).get(id) ?? id };
  }
}
