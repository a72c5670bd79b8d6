// The common form of all error replies, for the OpenAPI document.
import { ApiProperty } from '@nestjs/swagger';

export class FieldProblem {
  @ApiProperty({ example: 'amount' }) field!: string;
  @ApiProperty({ example: 'must be an integer of at least 1' }) message!: string;
}

export class ProblemView {
  @ApiProperty({ description: 'Stable: match on it.', example: 'invalid_request' }) code!: string;
  @ApiProperty({ description: 'For people.', example: 'amount: must be an integer of at least 1' }) message!: string;
  @ApiProperty({ type: [FieldProblem], description: 'The wrong fields; often empty.' })
  errors!: FieldProblem[];
}
