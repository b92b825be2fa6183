/** Refunds a part of a payment; the arguments are the payment id and the amount. */
import { Turnpike } from '@turnpike-pay/client';

const turnpike = new Turnpike({
  url: process.env.TURNPIKE_URL ?? 'http://127.0.0.1:8080',
  merchantKey: process.env.TURNPIKE_MERCHANT_KEY ?? 'YOUR_MERCHANT_KEY',
  password: process.env.TURNPIKE_PASSWORD ?? '',
});
const [payment_id = '', amount = '5.00'] = process.argv.slice(2);
const { result } = await turnpike.checkout.refund({ payment_id, amount });
console.log(result);
