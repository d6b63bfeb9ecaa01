import { type paths } from './redemption.generated';

type Operations = { [P in keyof paths]: NonNullable<paths[P]['get' | 'post']> }[keyof paths];
type Answers<O> = O extends { responses: infer R } ? R[keyof R] : never;
type Body<A> = A extends { content: { 'application/json': infer B } } ? B : never;
type Code<B> = B extends { success: false; code: infer C } ? (string extends C ? never : C) : never;

/** Every code with which the redemption service refuses, from its OpenAPI document. */
type ServiceCode = Code<Body<Answers<Operations>>>;
/** Codes of the console's own refusals, and codes that the page assigns where the service gave no answer. */
type PageCode =
  'ANSWER_TOO_LARGE' | 'CSRF_TOKEN' | 'FOREIGN_ORIGIN' | 'NO_CONNECTION' | 'UNEXPECTED_ANSWER';
export type RefusalCode = ServiceCode | PageCode;
