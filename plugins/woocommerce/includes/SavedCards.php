<?php

/** Cards that a signed-in customer has saved on the payment page; WooCommerce lists them under “Payment methods”. */

declare(strict_types=1);

namespace TurnpikePay\WooCommerce;

use WC_Order;
use WC_Payment_Token_CC;
use WC_Payment_Tokens;

defined('ABSPATH') || exit;

final class SavedCards
{
    /** The gateway offers at most this many cards on a page. */
    private const MOST = 20;

    /** First digits of the networks, by the names that WooCommerce has for them. */
    private const NETWORKS = [
        'visa' => '4', 'mastercard' => '5[1-5]|2[2-7]', 'american express' => '3[47]', 'discover' => '6(011|4[4-9]|5)',
        'diners' => '3(0|6|8)', 'jcb' => '35', 'maestro' => '5[06-8]|6',
    ];

    /** @return array<string, mixed> the fields of a session with which cards are offered and saved */
    public static function sessionFields(WC_Order $order): array
    {
        if (!Settings::isOn('saved_cards') || $order->get_customer_id() === 0) {
            return [];
        }
        $tokens = [];
        // An order can be paid by whoever has its link, but cards are offered to their owner only.
        if (get_current_user_id() === $order->get_customer_id()) {
            foreach (WC_Payment_Tokens::get_customer_tokens($order->get_customer_id(), Gateway::ID) as $token) {
                $tokens[] = $token->get_token();
            }
        }
        return ['req_token' => true, 'token_consent_required' => true]
            + ($tokens === [] ? [] : ['card_token' => array_slice($tokens, 0, self::MOST)]);
    }

    /**
     * Saves the card of the payment that paid the order, if the payer agreed. Only the callback of the sale says which card
     * a token belongs to; it may come after a query that has completed the order.
     */
    public static function remember(WC_Order $order, Payment $payment): void
    {
        $card = $payment->text('card');
        $token = $payment->text('card_token');
        $isDated = preg_match('~^(\d\d)/(\d{4})$~D', $payment->text('card_expiration_date'), $expiry) === 1;
        $isSale = $payment->isEvent('sale', 'success') && $payment->isPaid() && Orders::paidBy($order) === $payment->id;
        $isSaved = Settings::isOn('saved_cards') && $order->get_customer_id() !== 0;
        if (!$isSale || !$isSaved || !$isDated || $token === '' || $card === '') {
            return;
        }
        $saved = self::withSameCard($order->get_customer_id(), substr($card, -4), $expiry) ?? new WC_Payment_Token_CC();
        $saved->set_gateway_id(Gateway::ID);
        $saved->set_user_id($order->get_customer_id());
        $saved->set_token($token);
        $saved->set_card_type(self::network($card));
        $saved->set_last4(substr($card, -4));
        $saved->set_expiry_month($expiry[1]);
        $saved->set_expiry_year($expiry[2]);
        $saved->save();
        $order->add_payment_token($saved);
    }

    /** @param list<string> $expiry the match of the expiry: all, month, year */
    private static function withSameCard(int $customer, string $last4, array $expiry): ?WC_Payment_Token_CC
    {
        foreach (WC_Payment_Tokens::get_customer_tokens($customer, Gateway::ID) as $token) {
            $isSame = $token instanceof WC_Payment_Token_CC
                && [$token->get_last4(), $token->get_expiry_month(), $token->get_expiry_year()] === [$last4, $expiry[1], $expiry[2]];
            if ($isSame) {
                return $token;
            }
        }
        return null;
    }

    private static function network(string $card): string
    {
        foreach (self::NETWORKS as $name => $digits) {
            if (preg_match("/^($digits)/", $card) === 1) {
                return $name;
            }
        }
        return 'card';
    }
}
