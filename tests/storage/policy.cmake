kvloom_test(storage_policy_test
  SOURCES policy/entry_heap_test.cpp policy/eviction_policy_test.cpp
  LIBS kvloom_policy)
