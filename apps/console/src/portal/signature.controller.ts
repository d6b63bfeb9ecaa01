import { Body, Controller, HttpCode, Post } from '@nestjs/common';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { MaxLength, MinLength } from 'class-validator';
import { Answers, Fails, Field, Operation } from '#libs/openapi';
import {
  explainSignatureInTurns,
  HashBudget,
  LONGEST_QUESTION_BODY,
  LONGEST_QUESTION_BYTES,
} from '#libs/partner-sdk/conformance';
import { BodyLimit, HttpProblem } from '#libs/service';
import { type ConsoleMember, CurrentMember, ForPartners } from '../auth/audience.js';
import { MemberLimit } from '../auth/member-limits.js';
import * as Input from '../http/inputs.js';
import { OwnSecrets } from './own-secrets.js';

const LONGEST = 2048;
const CALLBACK = 'callback';
const MOST_OTHERS = 20;
const METHOD = /^[A-Za-z]{1,20}$/;

@ApiSchema({ name: 'SignatureQuestion' })
export class SignatureQuestionDto {
  @Input.Matching(
    /^(?:callback|svck_[A-Za-z0-9_-]{1,7})$/,
    'be the beginning of one of your keys, or callback',
    { description: 'The beginning of a key, or `callback`.' },
  )
  readonly secretOf!: string;

  @Input.Matching(METHOD, 'be given, such as GET', { pattern: METHOD.source })
  readonly method!: string;

  @ApiProperty({ type: 'string', maxLength: LONGEST, description: 'As it was sent.' })
  @MaxLength(LONGEST, { message: '$property is too long.' })
  @MinLength(1, { message: '$property must be given: that of the URL as it was sent.' })
  readonly path!: string;

  @Input.Optional()
  @Input.TextUpTo(200, { maxLength: 200, description: 'X-API-REQUEST, of calls.' })
  readonly requestId?: string;

  @Input.Optional()
  @Input.TextUpTo(LONGEST_QUESTION_BODY, {
    ...{ maxLength: LONGEST_QUESTION_BODY, description: 'As it was sent.' },
  })
  readonly body?: string;

  @ApiProperty({ type: 'string', maxLength: LONGEST, description: 'The one that was made.' })
  @MaxLength(LONGEST, { message: '$property is too long.' })
  @MinLength(1, { message: '$property must be given: the one that you made.' })
  readonly signature!: string;
}

@ApiSchema({ name: 'SignatureExplanation' })
export class SignatureExplanationBody {
  @Field.Text('What is signed: method, path, request id, body.') readonly content!: string;
  @Field.Flag() readonly matches!: boolean;
  @Field.ListOf(
    String,
    'What made the other signature, reproduced to the last bit; empty: not known.',
  )
  readonly mistakes!: string[];
}

/**
 * Finds the mistake behind a signature that does not verify. A mistake is reported where it makes exactly the given
 * signature.
 * The right signature is not revealed: a caller who can get it for any content needs no secret any more.
 */
@Controller('api/partner/signature')
@ForPartners()
export class SignatureController {
  constructor(private readonly secrets: OwnSecrets) {}

  @Post()
  @HttpCode(200)
  @MemberLimit('ASK')
  @BodyLimit(LONGEST_QUESTION_BYTES)
  @Operation(
    'Why a signature does not verify',
    'What we would sign, and which mistake makes exactly the signature given.',
  )
  @Answers(200, 'What was found.', SignatureExplanationBody)
  @Fails(400, 'The request is malformed; `field` says where.', 'BAD_REQUEST')
  @Fails(404, 'You have no such secret.', 'CREDENTIAL_MISSING', 'CALLBACK_MISSING')
  async explain(
    @Body() question: SignatureQuestionDto,
    @CurrentMember() member: ConsoleMember,
  ): Promise<SignatureExplanationBody> {
    const { secretOf, method, path, requestId, body = '', signature: given } = question;
    const asked = { method, path, requestId, body, given };
    const secret = await this.secretOf(member, secretOf);
    // One budget for all secrets, so that a partner with many secrets costs no more.
    const budget = new HashBudget();
    const own = await explainSignatureInTurns({ ...asked, secret }, budget);
    const { content, matches = false, mistakes } = own;
    const isTold = matches || (mistakes.length > 0 && !budget.isSpent);
    if (isTold) return { content, matches, mistakes: [...mistakes] };
    const others = await this.byOther(member, question, budget);
    return { content, matches, mistakes: others.length > 0 ? others : [...mistakes] };
  }

  private async secretOf(member: ConsoleMember, name: string): Promise<string> {
    if (name !== CALLBACK) return this.secrets.open(await this.secrets.find(member, name));
    const callback = await this.secrets.callback(member.partnerId);
    if (callback !== undefined) return callback.secret;
    throw new HttpProblem(404, 'You have no callback.', { code: 'CALLBACK_MISSING' });
  }

  /**
   * Tries the partner's other secrets.
   * @returns which of them made the signature, with further mistakes; empty where none did
   */
  private async byOther(
    member: ConsoleMember,
    { secretOf, signature: given, ...asked }: SignatureQuestionDto,
    budget: HashBudget,
  ): Promise<string[]> {
    for (const { name, secret } of await this.others(member, secretOf)) {
      const { body = '' } = asked;
      const question = { ...asked, body, given, secret };
      const { matches, mistakes } = await explainSignatureInTurns(question, budget);
      if (matches === true || (mistakes.length > 0 && !budget.isSpent)) {
        return [`It is made with another secret: that of ${name}.`, ...mistakes];
      }
    }
    return [];
  }

  private async others(member: ConsoleMember, asked: string) {
    const sealed = (await this.secrets.sealed(member)).slice(0, MOST_OTHERS);
    const credentials = sealed
      .filter(({ keyPrefix }) => keyPrefix !== asked)
      .map((one) => ({
        name: one.isActive ? one.keyPrefix : `${one.keyPrefix}, which is no longer valid`,
        secret: this.secrets.open(one),
      }));
    const callback = asked === CALLBACK ? undefined : await this.secrets.callback(member.partnerId);
    return callback === undefined
      ? credentials
      : [...credentials, { name: 'your callback', secret: callback.secret }];
  }
}
