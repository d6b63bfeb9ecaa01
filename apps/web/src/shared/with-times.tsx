import { Fragment } from 'react';
import { When } from './when';

const TIME = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?Z)/;

/** A sentence of the server; the times in it, which are ISO 8601, are shown as times are. */
export function WithTimes({ text }: { readonly text: string }) {
  return text.split(TIME).map((part, place) => (
    // The parts of one text have no other name than their place.
    <Fragment key={place}>{isTime(part) ? <When at={part} /> : part}</Fragment>
  ));
}

function isTime(part: string): boolean {
  return TIME.test(part) && !Number.isNaN(Date.parse(part));
}
