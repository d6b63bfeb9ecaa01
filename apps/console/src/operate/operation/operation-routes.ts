import {
  Body,
  Controller,
  HttpCode,
  type OnModuleInit,
  Param,
  Post,
  type Type,
  UseInterceptors,
} from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { type OperatorRole } from '#libs/db';
import { Answers, Fails, Operation as Describe } from '#libs/openapi';
import {
  accepts,
  expectedOf,
  fieldsOf,
  type Operation,
  type OperationSpec,
  type OperationType,
  type ResultOf,
  schemaOf,
} from '#libs/operations';
import { HttpProblem } from '#libs/service';
import { ActionResultBody } from '../../approvals/approval.dto.js';
import {
  type ConsoleOperator,
  CurrentOperator,
  ForOperators,
  FreshSignIn,
} from '../../auth/audience.js';
import { PartnerViews } from '../partners/partner-views.js';
import { REFUSALS } from '../refusals.js';
import { describeFields, sentence } from './describe-fields.js';
import { OperationService } from './operation.service.js';

export interface OperationRoute<T extends Operation> {
  /** Below `api/operate/`; its parameters are fields of the operation. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  /** Default: 200, and 204 without a body. */
  readonly status?: number;
  /** Describes the answer. */
  readonly answer: string;
  /** Type of the answer's body. An operation that may need a second operator has its own. */
  readonly type?: Type;
  readonly bodyOf?: (result: ResultOf<T>, views: PartnerViews) => unknown;
  readonly fails: readonly (readonly [status: number, description: string, ...codes: string[]])[];
}

/** Makes the controller of an operation, whose request is the fields of the operation. */
export function routeOf<T extends Operation>(
  type: OperationType<T>,
  route: OperationRoute<T>,
): Type {
  const { spec } = type;
  const { bodyOf } = route;
  const role = roleOf(spec);
  const answerType = spec.mayNeedSecond === true ? ActionResultBody : route.type;

  @Controller('api/operate')
  @UseInterceptors(REFUSALS)
  class OperationController implements OnModuleInit {
    constructor(
      private readonly operations: OperationService,
      private readonly views: PartnerViews,
    ) {}

    onModuleInit(): void {
      if (spec.mayNeedSecond === true) this.operations.register(type);
    }

    @Post(route.path)
    @HttpCode(route.status ?? (answerType === undefined ? 204 : 200))
    @ForOperators(role)
    @Describe(route.summary, route.description)
    async perform(
      @Param() path: Readonly<Record<string, string>>,
      @CurrentOperator() operator: ConsoleOperator,
      body: T = new type(),
    ): Promise<unknown> {
      for (const [name, field] of fieldsOf(type)) {
        if (field.inPath !== true || accepts(type, name, path[name])) continue;
        throw HttpProblem.badRequest(name, `${name} must be ${expectedOf(field)}.`);
      }
      const operation = Object.assign(body, path);
      if (spec.mayNeedSecond === true) return this.operations.ask(operation, operator);
      const result = await this.operations.perform(operation, operator);
      return bodyOf?.(result as ResultOf<T>, this.views);
    }
  }

  const decorate = (...decorators: MethodDecorator[]): void => {
    const { prototype } = OperationController;
    const descriptor = Object.getOwnPropertyDescriptor(prototype, 'perform') ?? {};
    for (const one of decorators) one(prototype, 'perform', descriptor);
  };
  const fields = [...fieldsOf(type)];
  decorate(
    ...fields.flatMap(([name, field]) =>
      field.inPath === true
        ? [ApiParam({ name, schema: schemaOf(field), description: sentence(field.help) })]
        : [],
    ),
    Answers(route.status ?? (answerType === undefined ? 204 : 200), route.answer, answerType),
    ...route.fails.map((fail) => Fails(...fail)),
    ...(spec.isFresh === true ? [FreshSignIn()] : []),
  );
  if (fields.some(([, { inPath }]) => inPath !== true)) {
    describeFields(type);
    Body()(OperationController.prototype, 'perform', 2);
  }
  // The type of the body, which the compiler knows for a class with a name alone.
  Reflect.defineMetadata(
    'design:paramtypes',
    [Object, Object, type],
    OperationController.prototype,
    'perform',
  );
  Object.defineProperty(OperationController, 'name', { value: `${type.name}Controller` });
  return OperationController;
}

function roleOf({ command, role }: OperationSpec): OperatorRole {
  if (role === undefined) throw new TypeError(`${command} names no role`);
  return role;
}
