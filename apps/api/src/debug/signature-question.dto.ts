import { IsOptional, IsString, Matches, MaxLength, MinLength } from 'class-validator';

const LONGEST = 2048;
const LIMITED = ({ property }: { readonly property: string }): string =>
  `${property} must be a text of at most ${LONGEST} characters, or left out.`;
const METHOD = { message: 'method must be given, such as GET.' };
const PATH = { message: 'path must be given: that of the URL as it was sent.' };

/** All texts; the body is the one that was sent, as a text, not as JSON. */
export class SignatureQuestion {
  @Matches(/^[A-Za-z]{1,20}$/, METHOD)
  readonly method!: string;

  @MinLength(1, PATH)
  @MaxLength(LONGEST, { message: LIMITED })
  readonly path!: string;

  @IsOptional()
  @MaxLength(LONGEST, { message: LIMITED })
  readonly requestId?: string;

  @IsOptional()
  @IsString({ message: 'body must be a text, or left out.' })
  readonly body?: string;

  @IsOptional()
  @MaxLength(LONGEST, { message: LIMITED })
  readonly signature?: string;
}
