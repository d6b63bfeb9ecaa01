import { Injectable } from '@nestjs/common';
import { PortalDatabase, type PortalQuery } from '#libs/db';
import { HttpProblem } from '#libs/service';
import { type ConsoleMember } from '../auth/audience.js';
import { actorOf } from '../auth/operators.js';

/** Reads the rows of the session's partner. Statements do not name the partner: the transaction does. */
@Injectable()
export class OwnRows {
  constructor(private readonly portal: PortalDatabase) {}

  /** @throws DatabaseUnavailableError, or what `work` throws */
  read<T>({ partnerId }: ConsoleMember, work: (query: PortalQuery) => Promise<T>): Promise<T> {
    return this.portal.asPartner(partnerId, work);
  }

  /** @throws HttpProblem 404 where `work` finds nothing */
  async readOne<T>(
    member: ConsoleMember,
    what: string,
    work: (query: PortalQuery) => Promise<T | undefined>,
  ): Promise<T> {
    const found = await this.read(member, work);
    if (found === undefined) throw new HttpProblem(404, `You have no ${what} with this id.`);
    return found;
  }
}

/** Name of a member in the audit log: `partner:NAME`. */
export function memberActor(member: ConsoleMember): string {
  return actorOf(member).replace(/^operator:/, 'partner:');
}
