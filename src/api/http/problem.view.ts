// The shape of every answer except a success, for the OpenAPI document.
import { ApiProperty } from '@nestjs/swagger';

class FieldProblem {
  @ApiProperty({ example: 'amount' }) field!: string;
  @ApiProperty() message!: string;
}

export class ProblemView {
  @ApiProperty({ description: 'Stable: match on it.', example: 'invalid_request' }) code!: string;
  @ApiProperty({ description: 'For people.' }) message!: string;
  @ApiProperty({ type: [FieldProblem], description: 'The fields that are wrong; often empty.' })
  errors!: FieldProblem[];
}
