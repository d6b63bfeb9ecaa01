import { type Redemption } from '../config';

/** Of a redemption's card in the page. */
export function cardId({ id }: Pick<Redemption, 'id'>): string {
  return `redemption-${id}`;
}
