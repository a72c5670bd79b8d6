// Lint rules for the parameters of functions and methods with a name: whole names, and an object instead of many.
const MOST = 4;
/** Their callers give the order: Stripe's HTTP client, and `makeRequest` of the tests' doubles. */
const GIVEN = new Set(['makeRequest']);

/** The functions with a name: declarations, methods, and arrows in a variable. Nest fills constructors by type. */
const NAMED = [
  'FunctionDeclaration',
  'TSDeclareFunction',
  'TSMethodSignature',
  'MethodDefinition[kind!="constructor"] > FunctionExpression',
  'TSAbstractMethodDefinition > TSEmptyBodyFunctionExpression',
  'VariableDeclarator > ArrowFunctionExpression.init',
].join(', ');

const nameOf = (node) => node.id?.name ?? node.key?.name ?? node.parent.id?.name ?? node.parent.key?.name ?? '';

/** A parameter with a default, a decorator or `?` is no duty of the caller, and neither is a rest parameter. */
const isOwed = (param) =>
  ['Identifier', 'ObjectPattern', 'ArrayPattern'].includes(param.type) &&
  param.optional !== true &&
  (param.decorators ?? []).length === 0;

const wholeNames = {
  meta: { type: 'suggestion', schema: [], messages: { letter: 'Give the parameter `{{name}}` a whole name.' } },
  create: (context) => ({
    [NAMED]({ params }) {
      for (const param of params) {
        const { name = '' } = param.type === 'AssignmentPattern' ? param.left : param;
        if (name.length === 1 && name !== '_') context.report({ node: param, messageId: 'letter', data: { name } });
      }
    },
  }),
};

const fewParameters = {
  meta: {
    type: 'suggestion',
    schema: [],
    messages: { many: `More than ${MOST} parameters in a row: make an object with names of the last ones.` },
  },
  create: (context) => {
    const long = new Map();
    const factories = new Set();
    return {
      [NAMED](node) {
        if (!GIVEN.has(nameOf(node)) && node.params.filter(isOwed).length > MOST) long.set(nameOf(node), node);
      },
      // Nest gives the parts of a factory in the order of `inject`.
      'Property[key.name="useFactory"] > Identifier.value': ({ name }) => void factories.add(name),
      'Program:exit': () => {
        for (const [name, node] of long) if (!factories.has(name)) context.report({ node, messageId: 'many' });
      },
    };
  },
};

export const parameters = { rules: { 'whole-names': wholeNames, 'few-parameters': fewParameters } };
