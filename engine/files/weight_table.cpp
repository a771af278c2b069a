#include "engine/files/weight_table.hpp"

#include "engine/files/file_kind.hpp"

#include <cstring>
#include <utility>

namespace kvloom::engine {

std::byte* weight_storage::add_copy(std::size_t n_bytes) {
  copies.push_back(std::make_unique_for_overwrite<std::byte[]>(n_bytes));
  return copies.back().get();
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i != 0 ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

result<void> weight_table::add(const std::string& name, file_tensor tensor) {
  if (const file_tensor* other = find(name))
    return fail(errc::environment,
                "the tensor " + in_quotes(name)
                    + " occurs twice (the other is in " + other->file
                    + "); download the model again",
                tensor.file);
  tensors_.emplace(name, std::move(tensor));
  return {};
}

const file_tensor* weight_table::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

result<weight_view> weight_table::take(const std::string& name,
                                       const std::vector<std::int64_t>& shape,
                                       weight_storage& storage) {
  const auto found = tensors_.find(name);
  if (found == tensors_.end())
    return fail(errc::environment,
                "the tensor " + in_quotes(name) + " " + shape_text(shape)
                    + " is missing; the file is incomplete or of another "
                      "architecture");
  const file_tensor& tensor = found->second;
  if (tensor.shape != shape)
    return fail(errc::environment,
                "the tensor " + in_quotes(name) + " has the shape "
                    + shape_text(tensor.shape) + ", the configuration wants "
                    + shape_text(shape)
                    + "; weights and configuration belong to different models",
                tensor.file);
  if (!tensor.type)
    return fail(errc::bad_input,
                "the tensor " + in_quotes(name) + " has the element type "
                    + in_quotes(tensor.type_name)
                    + "; supported are F32, F16, BF16 and in GGUF Q8_0, Q4_0, "
                      "Q4_1, Q4_K, Q6_K: convert the model",
                tensor.file);
  if (shape.size() < 2 && is_quantised(*tensor.type))
    return fail(errc::bad_input,
                "the tensor " + in_quotes(name) + " " + shape_text(shape)
                    + " is quantised (" + tensor.type_name
                    + "); norms and biases must be F32, F16 or BF16",
                tensor.file);
  weight_view view;
  view.name = name;
  view.type = *tensor.type;
  view.shape = tensor.shape;
  view.bytes = tensor.bytes;
  view.n_bytes = tensor.n_bytes;
  if (reinterpret_cast<std::uintptr_t>(view.bytes) % 4 != 0) {
    std::byte* copy = storage.add_copy(view.n_bytes);
    std::memcpy(copy, view.bytes, view.n_bytes);
    view.bytes = copy;
  }
  tensors_.erase(found);
  return view;
}

std::vector<std::string> weight_table::names() const {
  std::vector<std::string> all;
  all.reserve(tensors_.size());
  for (const auto& [name, tensor] : tensors_) all.push_back(name);
  return all;
}

} // namespace kvloom::engine
