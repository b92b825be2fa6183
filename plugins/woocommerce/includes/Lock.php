<?php

/** A lock per order in the database, which the database releases when a process dies. */

declare(strict_types=1);

namespace TurnpikePay\WooCommerce;

defined('ABSPATH') || exit;

/** Another process works on the order and did not finish in time. */
final class LockedException extends \RuntimeException
{
}

final class Lock
{
    private const WAIT_SECONDS = 8;

    /**
     * Calls the function with the current row of the order while no other process changes its payments.
     *
     * @template T
     * @param callable(\WC_Order): T $work
     * @return T
     */
    public static function order(int $order_id, callable $work): mixed
    {
        global $wpdb;
        // Locks belong to the database server, which several sites may share.
        $name = 'turnpike_' . md5(DB_NAME . $wpdb->prefix . $order_id);
        if ($wpdb->get_var($wpdb->prepare('SELECT GET_LOCK(%s, %d)', $name, self::WAIT_SECONDS)) !== '1') {
            throw new LockedException(esc_html("Order $order_id is locked."));
        }
        try {
            return $work(Orders::fresh($order_id));
        } finally {
            $wpdb->query($wpdb->prepare('DO RELEASE_LOCK(%s)', $name));
        }
    }
}
