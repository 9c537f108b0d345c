from foldline.values.edits import LinkedKeys


def test_a_key_is_inserted_after_another_or_at_the_start():
    order = LinkedKeys([1, 2, 3])
    order.put(4, 2)
    order.put(0, None)
    order.put(5, 3)
    assert list(order) == [0, 1, 2, 4, 3, 5]


def test_removing_a_key_links_its_neighbours():
    order = LinkedKeys([1, 2, 3])
    order.remove(2)
    assert list(order) == [1, 3]
    assert order.before(3) == 1
    assert order.before(1) is None


def test_an_order_without_keys_is_empty():
    order = LinkedKeys([])
    order.put(1, None)
    order.remove(1)
    assert list(order) == []
