/** Queries the status of an order. */
import { Turnpike } from '@turnpike-pay/client';

const turnpike = new Turnpike({
  url: process.env.TURNPIKE_URL ?? 'http://127.0.0.1:8080',
  merchantKey: process.env.TURNPIKE_MERCHANT_KEY ?? 'YOUR_MERCHANT_KEY',
  password: process.env.TURNPIKE_PASSWORD ?? '',
});
const { status } = await turnpike.checkout.status({ order_id: process.argv[2] ?? 'order-1' });
console.log(status);
