import { UserError } from '../http/user.error.js';
import { type PartnerDirectory, type PartnerEntry } from '../partner/partner-directory.js';

/** @throws UserError 404; DatabaseUnavailableError */
export async function requirePartner(
  directory: PartnerDirectory,
  idOrName: string,
): Promise<PartnerEntry> {
  const entry = await directory.resolve(idOrName);
  if (entry !== undefined) return entry;
  throw UserError.notFound('There is no such partner; GET /api/partners lists those there are.');
}
