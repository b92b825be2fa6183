/** The provider API: submits and queries payments and operations. */
import type { FastifyInstance } from 'fastify';
import { isObject } from '../src/lib/text/json.ts';
import { answer, CALL_MODES, OPERATION_MODES, SUBMIT_MODES } from './faults.ts';
import type { OperationKind } from './ledger.ts';
import { OPERATIONS, operationResponse, performOperation } from './operations.ts';
import { isAmount, isName, readPaymentRequest, required } from './payment-request.ts';
import { connectionFaultOf, paymentResponse, type Simulator, submit } from './payments.ts';

interface Reference {
  Params: { reference: string };
}

export function providerRoutes(app: FastifyInstance, simulator: Simulator): void {
  const { ledger } = simulator;

  app.get('/about', async () => ({ name: 'Turnpike sandbox', simulator: true }));

  app.post('/payments', async (request, reply) => {
    const submitted = readPaymentRequest(request.body);
    const isNew = ledger.payment(submitted.reference) === undefined;
    const context = { ...submitted, defaultFault: isNew ? connectionFaultOf(submitted) : undefined };
    return answer(ledger, request, reply, context, isNew ? SUBMIT_MODES : CALL_MODES, (mode, codes) => {
      const payment = submit(simulator, submitted, mode, codes);
      return { ...paymentResponse(simulator, payment), ...(mode === 'soft_decline' && { soft: true }) };
    });
  });

  app.get<Reference>('/payments/:reference', async (request, reply) => {
    const payment = ledger.payment(request.params.reference);
    return answer(ledger, request, reply, payment, CALL_MODES, () => payment && paymentResponse(simulator, payment));
  });

  for (const kind of Object.keys(OPERATIONS) as OperationKind[]) {
    app.post<Reference>(`/payments/:reference/${kind}`, async (request, reply) => {
      const { reference } = request.params;
      const payment = ledger.payment(reference);
      const body = required(request.body, isObject, 'The body');
      const operation = required(body.operation, isName, 'operation');
      // A void is for the whole payment, so its amount is optional.
      const requested = kind === 'void' ? (body.amount ?? payment?.amount) : body.amount;
      const amount = payment ? required(requested, isAmount, 'amount') : '';
      return answer(ledger, request, reply, payment, OPERATION_MODES, (mode) => {
        if (!payment) return undefined;
        const performed = operationResponse(performOperation(simulator, reference, kind, { operation, amount }));
        if (mode !== 'pending_operation') return performed;
        simulator.notifications.write({ ...payment, amount }, { type: 'operation', ...performed });
        simulator.notifications.send(reference);
        return { ...performed, status: 'pending' };
      });
    });
  }

  app.get<{ Params: { reference: string; operation: string } }>(
    '/payments/:reference/operations/:operation',
    async (request, reply) => {
      const { reference, operation } = request.params;
      return answer(ledger, request, reply, ledger.payment(reference), CALL_MODES, () => {
        const found = ledger.operation(reference, operation);
        return found && operationResponse(found);
      });
    },
  );
}
